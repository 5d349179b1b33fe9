"""stack: the tensors X along a new axis."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Y": np.stack(inputs["X"], axis=attrs["axis"])}


test_stack = op_tests(
    "stack",
    reference,
    cases={
        "front": ({"X": [array(3, 4), array(3, 4, seed=1)]}, {}),
        "end": ({"X": [array(3, 4), array(3, 4, seed=1), array(3, 4, seed=2)]}, {"axis": -1}),
        "between": ({"X": [array(3, 4), array(3, 4, seed=1)]}, {"axis": 1}),
        "one": ({"X": [array(3)]}, {}),
        "one element": ({"X": [array(), array(seed=1)]}, {}),
        "no rows": ({"X": [array(0, 4), array(0, 4)]}, {"axis": 1}),
    },
    gradients=["X"],
    values_only={"integers": ({"X": [ints(3), ints(3, seed=1)]}, {"axis": 1})},
    refusals={
        "other shape": ({"X": [array(3), array(4)]}, {}, pm.ShapeError, "X[1] [4] [3]"),
        "other dtype": ({"X": [array(3), ints(3)]}, {}, pm.ShapeError, "X[1] int64"),
        "no such axis": ({"X": [array(3), array(3)]}, {"axis": 2}, pm.ShapeError, "axis 2"),
    },
)
