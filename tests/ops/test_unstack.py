"""unstack: what X has at each position of an axis."""

from families.axes import slab_tests

test_unstack = slab_tests("unstack", out="Y")
