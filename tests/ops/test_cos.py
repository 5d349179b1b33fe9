"""cos: Out = cos(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_cos = unary_tests("cos", np.cos, domain=(-4, 4), special=[*ZEROS, 1.0, 100.0, -3.0e4, *NOT_FINITE])
