"""cumsum: the sum of X up to each element along an axis."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x, axis = inputs["X"], attrs["axis"]
    if attrs["flatten"] or not x.ndim:
        x, axis = (x.reshape(-1) if attrs["flatten"] else x.reshape(1)), 0
    if attrs["reverse"]:
        x = np.flip(x, axis)
    out = np.cumsum(x, axis, dtype=x.dtype)
    if attrs["exclusive"]:
        out = out - x
    out = np.flip(out, axis) if attrs["reverse"] else out
    return {"Out": out if attrs["flatten"] else out.reshape(inputs["X"].shape)}


test_cumsum = op_tests(
    "cumsum",
    reference,
    cases={
        "last axis": ({"X": array(3, 9)}, {}),
        "first axis": ({"X": array(5, 4)}, {"axis": 0}),
        "middle axis": ({"X": array(2, 5, 3)}, {"axis": 1}),
        "exclusive": ({"X": array(3, 4)}, {"exclusive": True}),
        "reverse": ({"X": array(3, 4)}, {"axis": 0, "reverse": True}),
        "both": ({"X": array(3, 4)}, {"exclusive": True, "reverse": True}),
        "one line": ({"X": array(3, 4)}, {"flatten": True}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {"axis": 0}),
        "nothing in one line": ({"X": array(0, 4)}, {"flatten": True}),
    },
    gradients=["X"],
    refusals={
        "no such axis": ({"X": array(3)}, {"axis": 1}, pm.ShapeError, "axis 1"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
    tolerance={"float32": 1e-5},  # sums of sums, one after the other
)

test_numbers = op_tests(
    "cumsum", reference, cases={"integers": ({"X": ints(3, 4)}, {}), "small numbers": ({"X": ints(3, 4, dtype="int16")}, {})}
)
