"""tan: Out = tan(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_tan = unary_tests("tan", np.tan, domain=(-1, 1), special=[*ZEROS, 1.0, 100.0, *NOT_FINITE])
