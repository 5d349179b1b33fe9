"""sinh: Out = sinh(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_sinh = unary_tests("sinh", np.sinh, domain=(-2, 2), special=[*ZEROS, 1.0, 20.0, -20.0, 800.0, -800.0, *NOT_FINITE])
