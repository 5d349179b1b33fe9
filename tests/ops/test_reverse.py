"""reverse: X with some axes reversed."""

from families.axes import reversal_tests

test_reverse = reversal_tests("reverse")
