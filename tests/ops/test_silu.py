"""silu: Out = X / (1 + exp(-X))."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_silu = unary_tests(
    "silu", lambda x: x / (1 + np.exp(-x)), domain=(-4, 4), special=[*ZEROS, 1.0, -1.0, 100.0, -100.0, 800.0, -800.0, *NOT_FINITE]
)
