"""softshrink: Out = X - lambda where X > lambda, X + lambda where X < -lambda, else 0."""

import numpy as np

from families.unary import unary_tests


def softshrink(x, attrs):
    moved = np.sign(x) * (np.abs(x) - attrs["lambda"])
    return np.where(np.abs(x) <= attrs["lambda"], 0, moved)


test_softshrink = unary_tests("softshrink", softshrink, domain=(-3, 3), attrs={"lambda": 0.75})
