"""gather: the elements of X along an axis at the positions in Index."""

from families.axes import pick_tests

test_gather = pick_tests("gather", axis="axis")
