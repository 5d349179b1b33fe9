"""sin: Out = sin(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_sin = unary_tests("sin", np.sin, domain=(-4, 4), special=[*ZEROS, 1.0, 100.0, -3.0e4, *NOT_FINITE])
