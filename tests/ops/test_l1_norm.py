"""l1_norm: Out = the sum of |X|."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.abs(inputs["X"]).sum().reshape(())}


test_l1_norm = op_tests(
    "l1_norm",
    reference,
    cases={
        "matrix": ({"X": array(3, 4)}, {}),
        "vector": ({"X": array(37)}, {}),
        "number": ({"X": array()}, {}),
        "one element": ({"X": array(1)}, {}),
        "nothing": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={
        "integers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
        "selected rows": ({"X": Rows([1], array(1, 5), 4)}, {}, pm.ShapeError, "X selected rows"),
    },
)
