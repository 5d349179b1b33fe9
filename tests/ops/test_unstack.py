"""unstack: the slices of X at each position of an axis."""

from families.axes import slab_tests

test_unstack = slab_tests("unstack", out="Y")
