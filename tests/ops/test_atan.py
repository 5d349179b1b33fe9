"""atan: Out = arctan(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_atan = unary_tests("atan", np.arctan, domain=(-3, 3), special=[*ZEROS, 1.0, 1.0e10, *NOT_FINITE])
