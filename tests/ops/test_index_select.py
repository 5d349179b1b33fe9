"""index_select: the elements of X along an axis at the positions in Index."""

from families.axes import pick_tests

test_index_select = pick_tests("index_select", axis="dim")
