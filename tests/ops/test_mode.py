"""mode: the most frequent element along an axis, and the position of its last occurrence."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x, axis = np.atleast_1d(inputs["X"]), attrs["axis"]
    lines = np.moveaxis(x, axis, -1)
    at = np.zeros((*lines.shape[:-1], 1), "int64")
    for index in np.ndindex(lines.shape[:-1]):
        values, counts = np.unique(lines[index], return_counts=True, equal_nan=False)
        at[index] = np.flatnonzero(lines[index] == values[counts.argmax()])[-1]
    out = np.take_along_axis(lines, at, -1)
    back = (lambda a: np.moveaxis(a, -1, axis)) if attrs["keepdim"] and inputs["X"].ndim else (lambda a: a[..., 0])
    return {"Out": back(out), "Indices": back(at)}


test_mode = op_tests(
    "mode",
    reference,
    cases={
        "all different": ({"X": array(2, 3, 4)}, {"axis": 1}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    gradient_of=["Out"],
    values_only={  # elements that are equal have no numeric gradient
        "rows": ({"X": np.array([[1.0, 2, 2, 1], [3, 1, 2, 4], [5, 5, 1, 5]])}, {}),
        "columns": ({"X": np.array([[1.0, 2], [3, 2], [1, 4]])}, {"axis": 0, "keepdim": True}),
        "int32": ({"X": ints(3, 9).astype("int32") % 3}, {}),
        "int64": ({"X": ints(3, 9) % 3}, {"axis": 0}),
        "NaN": ({"X": np.array([np.nan, 3.0, np.nan, 3.0, 1.0])}, {}),
    },
    refusals={
        "no such axis": ({"X": array(3)}, {"axis": 1}, pm.ShapeError, "axis 1"),
        "no elements": ({"X": array(3, 0)}, {}, pm.ShapeError, "[3, 0]"),
    },
)
