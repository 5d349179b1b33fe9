"""relu: Out = max(X, 0)."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    with np.errstate(all="ignore"):
        return {"Out": np.maximum(inputs["X"], 0)}


test_relu = op_tests(
    "relu",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-1, high=1)}, {}),
        "long": ({"X": array(1003, low=-1, high=1)}, {}),
        "one element": ({"X": array(low=-1, high=1)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "whole numbers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)


SPECIAL = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 100.0, -100.0, 800.0, -800.0]
test_special_values = op_tests("relu", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
