"""erfinv: Out = the number whose error function is X."""

import math

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests


def inverse(x):
    """By bisection: of erf, and towards 1 of erfc, which is exact there."""

    def one(y):
        size = abs(y)
        if not size < 1:
            return math.copysign(math.inf, y) if size == 1 else math.nan
        low, high = 0.0, 6.0
        for _ in range(80):
            middle = (low + high) / 2
            below = math.erf(middle) < size if size < 0.5 else math.erfc(middle) > 1 - size
            low, high = (middle, high) if below else (low, middle)
        return math.copysign(high, y) if size else y

    return np.vectorize(one, otypes=[float])(x)


test_erfinv = unary_tests(
    "erfinv", inverse, domain=(-0.95, 0.95), special=[*ZEROS, 1.0, -1.0, 0.999, 1e-9, -0.5, 2.0, -2.0, *NOT_FINITE]
)
