"""relu: Out = max(X, 0)."""

import numpy as np

from families.unary import ZEROS, unary_tests

test_relu = unary_tests(
    "relu",
    lambda x: np.maximum(x, 0),
    domain=(-1, 1),
    special=[*ZEROS, 1.0, np.inf, -np.inf, np.nan, 100.0, -100.0, 800.0, -800.0],
)
