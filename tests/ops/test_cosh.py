"""cosh: Out = cosh(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_cosh = unary_tests("cosh", np.cosh, domain=(-2, 2), special=[*ZEROS, 1.0, 20.0, -20.0, 800.0, -800.0, *NOT_FINITE])
