"""log2: Out = log2(X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_log2 = unary_tests("log2", np.log2, domain=(0.5, 3), special=[*ZEROS, 1.0, -1.0, 1.0e10, *NOT_FINITE], wrong_type="bool")
