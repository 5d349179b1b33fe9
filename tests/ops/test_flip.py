"""flip: X with some axes reversed."""

from families.axes import reversal_tests

test_flip = reversal_tests("flip")
