"""squared_l2_norm: Out = the sum of the squares of X, of shape [1]."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.array([np.sum(inputs["X"] ** 2)])}


test_squared_l2_norm = op_tests(
    "squared_l2_norm",
    reference,
    cases={
        "matrix": ({"X": array(3, 4)}, {}),
        "long": ({"X": array(100, 1003)}, {}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={
        "integers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
)
