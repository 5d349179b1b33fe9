# References of digamma and its derivatives.
from __future__ import annotations

import math

import numpy as np


def polygamma(n: int, x: np.ndarray) -> np.ndarray:
    """The n-th derivative of digamma: the sum over 4000 terms from x upwards, and of the rest the integral with the first
    corrections of the trapezoidal rule."""
    k = np.arange(4000.0)
    terms, far = x[..., None] + k, x + 4000.0
    sign = (-1) ** (n + 1) * math.factorial(n)
    with np.errstate(all="ignore"):
        if n == 0:
            rest = np.log(far) - 1 / (2 * far) - 1 / (12 * far**2)
            sums = rest - (1 / terms).sum(-1)
        else:
            rest = far**-n / n + far ** -(n + 1) / 2 + (n + 1) * far ** -(n + 2) / 12
            sums = sign * ((1 / terms ** (n + 1)).sum(-1) + rest)
    poles = (x <= 0) & (x == np.floor(x))
    sums = np.where(poles, np.nan if n == 0 else sign * np.inf, sums)
    at_infinity = np.where(x > 0, np.inf if n == 0 else 0, np.nan)
    return np.where(np.isinf(x), at_infinity, sums)
