"""lgamma: Out = log |gamma(X)|."""

import math

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests


def log_gamma(x):
    poles = (x <= 0) & (x == np.floor(x))
    inside = np.where(poles | ~np.isfinite(x), 1, x)
    return np.where(poles | np.isinf(x), np.inf, np.vectorize(math.lgamma, otypes=[float])(inside) + 0 * x * np.isnan(x))


test_lgamma = unary_tests(
    "lgamma", log_gamma, domain=(0.1, 6), special=[*ZEROS, 1.0, 2.0, -1.0, -0.5, 100.0, -100.5, *NOT_FINITE]
)
