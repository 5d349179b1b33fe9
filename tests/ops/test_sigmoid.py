"""sigmoid: Out = 1 / (1 + exp(-X))."""

import numpy as np

from families.unary import ZEROS, unary_tests

test_sigmoid = unary_tests(
    "sigmoid",
    lambda x: 1 / (1 + np.exp(-x)),
    domain=(-5, 5),
    special=[*ZEROS, 1.0, np.inf, -np.inf, np.nan, 100.0, -100.0, 800.0, -800.0],
)
