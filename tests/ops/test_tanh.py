"""tanh: the hyperbolic tangent."""

import numpy as np

from families.unary import ZEROS, unary_tests

test_tanh = unary_tests(
    "tanh", np.tanh, domain=(-5, 5), special=[*ZEROS, 1.0, np.inf, -np.inf, np.nan, 100.0, -100.0, 800.0, -800.0]
)
