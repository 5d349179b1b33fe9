"""repeat_interleave: slices along an axis, each repeated."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    repeats = inputs.get("RepeatsTensor", [attrs["Repeats"]])
    return {"Out": np.repeat(inputs["X"], np.asarray(repeats).astype("int64"), attrs["dim"])}


X = {"X": array(3, 4)}

test_repeat_interleave = op_tests(
    "repeat_interleave",
    reference,
    cases={
        "rows": (X, {"Repeats": 2}),
        "columns": (X, {"Repeats": 3, "dim": -1}),
        "middle axis": ({"X": array(2, 3, 4)}, {"Repeats": 2, "dim": 1}),
        "none": (X, {"Repeats": 0}),
        "each row": ({**X, "RepeatsTensor": np.array([1, 0, 2])}, {}),
        "each column": ({**X, "RepeatsTensor": np.array([1, 0, 2, 3], "int32")}, {"dim": 1}),
        "a number in a tensor": ({**X, "RepeatsTensor": np.array([2])}, {}),
        "one element": ({"X": array(1)}, {"Repeats": 2}),
        "no rows": ({"X": array(0, 4)}, {"Repeats": 2}),
    },
    gradients=["X"],
    values_only={"int64": ({"X": ints(3)}, {"Repeats": 2}), "bool": ({"X": ints(3) > 2}, {"Repeats": 2})},
    open_shapes=True,
    refusals={
        "a number": ({"X": array()}, {"Repeats": 2}, pm.ShapeError, "no dimensions"),
        "no such axis": (X, {"Repeats": 2, "dim": 2}, pm.ShapeError, "dim 2"),
        "other count": ({**X, "RepeatsTensor": np.array([1, 2])}, {}, pm.ShapeError, "RepeatsTensor [2] [3]"),
        "negative": ({**X, "RepeatsTensor": np.array([1, -2, 1])}, {}, pm.OpError, "Repeats -2"),
    },
)
