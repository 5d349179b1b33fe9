"""gelu: Out = X times the chance that a normal random number is below X."""

import math

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    with np.errstate(all="ignore"):
        if attrs["approximate"]:
            return {"Out": 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))}
        return {"Out": 0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / np.sqrt(2)))}


test_gelu = op_tests(
    "gelu",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-4, high=4)}, {}),
        "long": ({"X": array(1003, low=-4, high=4)}, {}),
        "one element": ({"X": array(low=-4, high=4)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "approximate": ({"X": array(7, 33, low=-4, high=4)}, {"approximate": True}),
        "approximate, one element": ({"X": array(low=-4, high=4)}, {"approximate": True}),
        "approximate, no rows": ({"X": array(0, 4)}, {"approximate": True}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "whole numbers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 100.0, -100.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests("gelu", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
test_approximate_special_values = op_tests(
    "gelu", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {"approximate": True})}
)
