"""celu: Out = X where X >= 0, else alpha (exp(X / alpha) - 1)."""

import numpy as np

import paddle_mini as pm
from families.unary import unary_tests
from harness import array

test_celu = unary_tests(
    "celu",
    lambda x, attrs: np.where(x < 0, attrs["alpha"] * np.expm1(x / attrs["alpha"]), x),
    domain=(-3, 3),
    attrs={"alpha": 1.5},
    refusals={"alpha 0": ({"X": array(3)}, {"alpha": 0.0}, pm.ProgramError, "alpha 0")},
)
