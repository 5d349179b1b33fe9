"""softplus: Out = log(1 + exp(beta X)) / beta."""

import numpy as np

import paddle_mini as pm
from families.unary import unary_tests
from harness import array


def softplus(x, attrs):
    scaled = attrs["beta"] * x
    return np.where(scaled > attrs["threshold"], x, np.logaddexp(0, scaled) / attrs["beta"])


test_softplus = unary_tests(
    "softplus",
    softplus,
    domain=(-3, 3),
    attrs={"beta": 1.5, "threshold": 2.0},
    refusals={"beta 0": ({"X": array(3)}, {"beta": 0.0}, pm.ProgramError, "beta 0")},
)
