"""norm: Out = X / Norm, Norm = sqrt(sum of X^2 along an axis + epsilon)."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    norm = np.sqrt((x * x).sum(axis=attrs["axis"], keepdims=True) + np.float64(np.float32(attrs["epsilon"])))
    return {"Out": x / norm, "Norm": norm}


test_norm = op_tests(
    "norm",
    reference,
    cases={
        "rows": ({"X": array(5, 7)}, {"axis": 1}),
        "long rows": ({"X": array(3, 100)}, {"axis": -1}),
        "middle axis": ({"X": array(2, 5, 20)}, {"axis": 1, "epsilon": 0.5}),
        "first axis": ({"X": array(5, 3)}, {"axis": -2}),
        "zeros": ({"X": np.zeros((2, 3))}, {"axis": 1, "epsilon": 0.25}),
        "one element": ({"X": array(1)}, {"axis": 0}),
        "no rows": ({"X": array(0, 4)}, {"axis": 1}),
        "rows of nothing": ({"X": array(4, 0)}, {"axis": 1}),
    },
    gradients=["X"],
    gradient_of=["Out"],
    refusals={
        "no such axis": ({"X": array(3, 5)}, {"axis": 2}, pm.ShapeError, "axis 2"),
        "no dimensions": ({"X": array()}, {"axis": 0}, pm.ShapeError, "axis 0"),
        "no axis": ({"X": array(3)}, {}, pm.ProgramError, "axis"),
        "negative epsilon": ({"X": array(3)}, {"axis": 0, "epsilon": -1.0}, pm.ProgramError, "epsilon -1"),
    },
)
