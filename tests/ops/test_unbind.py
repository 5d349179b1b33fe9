"""unbind: what X has at each position of an axis."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    return {"Out": [np.take(x, i, axis=attrs["axis"]) for i in range(x.shape[attrs["axis"]])]}


test_unbind = op_tests(
    "unbind",
    reference,
    cases={
        "first axis": ({"X": array(3, 4)}, {}),
        "last axis": ({"X": array(3, 4)}, {"axis": -1}),
        "middle": ({"X": array(3, 2, 4)}, {"axis": 1}),
        "one element": ({"X": array(1)}, {}),
        "no columns": ({"X": array(2, 0)}, {}),
    },
    gradients=["X"],
    refusals={
        "no axis": ({"X": array()}, {}, pm.ShapeError, "X no dimensions"),
        "no such axis": ({"X": array(1)}, {"axis": 1}, pm.ShapeError, "axis 1"),
        "other count": ({"X": array(3)}, {}, pm.ShapeError, "1 Out [3]"),
    },
)

test_numbers = op_tests("unbind", reference, cases={"whole numbers": ({"X": ints(3, 4)}, {"axis": 1})})
