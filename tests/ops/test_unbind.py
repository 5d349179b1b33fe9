"""unbind: the slices of X at each position of an axis."""

from families.axes import slab_tests

test_unbind = slab_tests("unbind", out="Out")
