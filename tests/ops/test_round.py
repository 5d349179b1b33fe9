"""round: Out = the integer nearest to X, halves away from zero."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests


def rounded(x):
    whole = np.trunc(x)
    out = whole + np.sign(x) * (np.abs(x - whole) >= 0.5)
    return np.where(np.isfinite(x), out, x)


test_round = unary_tests(
    "round", rounded, domain=(-5, 5), special=[*ZEROS, 1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 1.0e10, -1.0e10, *NOT_FINITE]
)
