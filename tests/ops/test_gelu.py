"""gelu: Out = X times the probability that a normal random number is below X."""

import math

import numpy as np

from families.unary import SPECIAL, unary_tests
from harness import array

APPROXIMATE = {"approximate": True}


def gelu(x, attrs):
    if attrs["approximate"]:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / np.sqrt(2)))


test_gelu = unary_tests(
    "gelu",
    gelu,
    domain=(-4, 4),
    attrs=APPROXIMATE,
    cases={
        "approximate, one element": ({"X": array(low=-4, high=4)}, APPROXIMATE),
        "approximate, no rows": ({"X": array(0, 4)}, APPROXIMATE),
    },
    values_only={"approximate, special values": ({"X": np.resize(SPECIAL, 37)}, APPROXIMATE)},
)
