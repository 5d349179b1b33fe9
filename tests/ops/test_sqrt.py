"""sqrt: the square root."""

import numpy as np

from families.unary import unary_tests

test_sqrt = unary_tests("sqrt", np.sqrt, domain=(0.5, 4), special=[0.0, 1.0, 1e30, np.inf, -1.0, np.nan])
