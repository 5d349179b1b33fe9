"""acosh: Out = arcosh(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_acosh = unary_tests("acosh", np.arccosh, domain=(1.5, 4), special=[*ZEROS, 1.0, 1.0e10, *NOT_FINITE])
