"""atanh: Out = artanh(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_atanh = unary_tests("atanh", np.arctanh, domain=(-0.9, 0.9), special=[*ZEROS, 1.0, -1.0, 2.0, *NOT_FINITE])
