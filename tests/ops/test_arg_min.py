"""arg_min: where along an axis the smallest element of X lies."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    axis = None if attrs["flatten"] or not x.ndim else attrs["axis"]
    keep = {"keepdims": True} if attrs["keepdims"] else {}
    out = np.asarray(np.argmin(x, axis=axis, **keep))
    return {"Out": out.astype("int32" if attrs["dtype"] == 2 else "int64")}


test_arg_min = op_tests(
    "arg_min",
    reference,
    cases={
        "last axis": ({"X": array(3, 9)}, {"axis": -1}),
        "first axis": ({"X": array(5, 4)}, {"axis": 0}),
        "middle axis": ({"X": array(2, 5, 3)}, {"axis": 1}),
        "kept": ({"X": array(2, 5, 3)}, {"axis": 1, "keepdims": True}),
        "one line": ({"X": array(3, 4)}, {"axis": 0, "flatten": True}),
        "one line kept": ({"X": array(3, 4)}, {"axis": 0, "flatten": True, "keepdims": True}),
        "int32": ({"X": array(3, 4)}, {"axis": 0, "dtype": 2}),
        "ties": ({"X": ints(6, 20, high=3)}, {"axis": 1}),
        "small numbers": ({"X": ints(3, 4, dtype="uint8")}, {"axis": 0}),
        "one element": ({"X": array()}, {"axis": 0}),
        "no rows": ({"X": array(0, 4)}, {"axis": 1}),
    },
    refusals={
        "of nothing": ({"X": array(0, 4)}, {"axis": 0}, pm.ShapeError, "[0, 4] nothing"),
        "no such axis": ({"X": array(3)}, {"axis": 1}, pm.ShapeError, "axis 1"),
        "float positions": ({"X": array(3)}, {"axis": 0, "dtype": 5}, pm.ProgramError, "dtype float32"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {"axis": 0}, pm.ShapeError, "X selected rows"),
    },
)


def test_nan_comes_first():
    x = np.array([1.0, np.nan, -3.0, np.nan, 5.0])
    assert run_op("arg_min", {"X": x}, {"axis": 0})["Out"] == 1
