"""sqrt: the square root."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    with np.errstate(all="ignore"):
        return {"Out": np.sqrt(inputs["X"])}


test_sqrt = op_tests(
    "sqrt",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=0.5, high=4)}, {}),
        "long": ({"X": array(1003, low=0.5, high=4)}, {}),
        "one element": ({"X": array(low=0.5, high=4)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "whole numbers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)


SPECIAL = [0.0, 1.0, 1e30, np.inf, -1.0, np.nan]
test_special_values = op_tests("sqrt", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
