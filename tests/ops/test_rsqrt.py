"""rsqrt: Out = 1 / sqrt(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_rsqrt = unary_tests("rsqrt", lambda x: 1 / np.sqrt(x), domain=(0.5, 3), special=[*ZEROS, 1.0, -1.0, 1.0e10, *NOT_FINITE])
