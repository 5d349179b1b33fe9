"""log: the natural logarithm."""

import numpy as np

from families.unary import ZEROS, unary_tests

test_log = unary_tests(
    "log", np.log, domain=(0.5, 4), special=[*ZEROS, 1.0, 1e-40, 1e30, np.inf, -np.inf, -1.0, np.nan], wrong_type="bool"
)
