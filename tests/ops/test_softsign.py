"""softsign: Out = X / (1 + |X|)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_softsign = unary_tests(
    "softsign", lambda x: x / (1 + np.abs(x)), domain=(-3, 3), special=[*ZEROS, 1.0, -1.0, 1.0e10, *NOT_FINITE]
)
