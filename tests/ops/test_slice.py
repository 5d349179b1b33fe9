"""slice: the part of Input between starts and ends."""

from families.slices import slice_tests

test_slice, test_kinds = slice_tests("slice", False)
