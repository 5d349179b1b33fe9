"""broadcast_tensors: tensors in the shape that fits all."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": [np.array(one) for one in np.broadcast_arrays(*inputs["X"])]}


test_broadcast_tensors = op_tests(
    "broadcast_tensors",
    reference,
    cases={
        "two": ({"X": [array(3, 1), array(4)]}, {}),
        "three": ({"X": [array(3, 1), array(1, 4), array(2, 1, 1)]}, {}),
        "same shapes": ({"X": [array(3, 4), array(3, 4)]}, {}),
        "one tensor": ({"X": [array(3, 4)]}, {}),
        "one element": ({"X": [array(), array(1)]}, {}),
        "no rows": ({"X": [array(0, 4), array(1, 4)]}, {}),
    },
    gradients=["X"],
    values_only={"int64": ({"X": [ints(3, 1), ints(4)]}, {}), "bool": ({"X": [ints(3, 1) > 2, ints(4) > 2]}, {})},
    refusals={
        "other shapes": ({"X": [array(3), array(4)]}, {}, pm.ShapeError, "[3] [4]"),
        "other types": ({"X": [array(3), ints(3)]}, {}, pm.ShapeError, "X[1] int64"),
    },
)
