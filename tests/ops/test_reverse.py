"""reverse: X with some axes back to front."""

from families.axes import reversal_tests

test_reverse = reversal_tests("reverse")
