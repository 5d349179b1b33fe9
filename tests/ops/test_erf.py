"""erf: Out = the error function of X."""

import math

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_erf = unary_tests(
    "erf",
    lambda x: np.vectorize(math.erf, otypes=[float])(x),
    domain=(-3, 3),
    special=[*ZEROS, 1.0, -1.0, 1.0e-10, 800.0, *NOT_FINITE],
)
