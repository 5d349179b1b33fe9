"""logit: Out = log(X / (1 - X))."""

import numpy as np

import paddle_mini as pm
from families.unary import NOT_FINITE, ZEROS, unary_tests
from harness import array


def logit(x, attrs):
    eps = np.float32(attrs["eps"]).astype("float64")
    inside = np.clip(x, eps, 1 - eps)
    return np.where((eps > 0) | ((x >= 0) & (x <= 1)), np.log(inside / (1 - inside)), np.nan)


test_logit = unary_tests(
    "logit",
    logit,
    domain=(0.2, 0.8),
    attrs={"eps": 0.125},
    cases={
        "some clipped": ({"X": np.array([0.05, 0.5, 0.99, -3.0, 7.0])}, {"eps": 0.125}),
        "nothing clipped": ({"X": array(5, low=0.01, high=0.99)}, {"eps": 0.0}),
    },
    special=[0.5, 0.25],
    values_only={"special values, eps 0": ({"X": np.resize([*ZEROS, 1.0, -1.0, 2.0, *NOT_FINITE], 37)}, {"eps": 0.0})},
    refusals={"eps": ({"X": array(2)}, {"eps": 0.75}, pm.ProgramError, "'eps' 0.75")},
)
