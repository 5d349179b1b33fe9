"""flip: X with some axes back to front."""

from families.axes import reversal_tests

test_flip = reversal_tests("flip")
