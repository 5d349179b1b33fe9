"""asinh: Out = arsinh(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_asinh = unary_tests("asinh", np.arcsinh, domain=(-3, 3), special=[*ZEROS, 1.0, -1.0e10, *NOT_FINITE])
