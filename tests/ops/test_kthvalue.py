"""kthvalue: the k-th smallest element along an axis, and its position."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, axis, k = inputs["X"], attrs["axis"], attrs["k"]
    order = np.argsort(np.atleast_1d(x), axis=axis, kind="stable")
    at = np.take(order, [k - 1], axis)
    out = np.take_along_axis(np.atleast_1d(x), at, axis)
    squeeze = (lambda a: a) if attrs["keepdim"] and x.ndim else (lambda a: np.squeeze(a, axis))
    return {"Out": squeeze(out), "Indices": squeeze(at).astype("int64")}


test_kthvalue = op_tests(
    "kthvalue",
    reference,
    cases={
        "smallest": ({"X": array(3, 5)}, {}),
        "second": ({"X": array(3, 5)}, {"k": 2}),
        "largest": ({"X": array(3, 5)}, {"k": 5, "keepdim": True}),
        "columns": ({"X": array(5, 3)}, {"k": 2, "axis": 0}),
        "middle axis": ({"X": array(2, 5, 3)}, {"k": 3, "axis": 1, "keepdim": True}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    gradient_of=["Out"],
    values_only={
        "equal elements": ({"X": np.array([2.0, 1, 2, 1])}, {"k": 2}),
        "NaN": ({"X": np.array([np.nan, 3.0, 1])}, {"k": 3}),
        "int32": ({"X": ints(3, 5).astype("int32")}, {"k": 2}),
        "int64": ({"X": ints(3, 5)}, {"k": 2, "axis": 0}),
    },
    refusals={
        "too large k": ({"X": array(3)}, {"k": 4}, pm.ShapeError, "k 4 3"),
        "no such axis": ({"X": array(3)}, {"axis": 1}, pm.ShapeError, "axis 1"),
        "k of 0": ({"X": array(3)}, {"k": 0}, pm.ProgramError, "k 0"),
        "no elements": ({"X": array(3, 0)}, {}, pm.ShapeError, "[3, 0]"),
    },
)


def test_the_gradient_refuses_positions_out_of_range():
    given = {"X": array(2, 3), "Indices": np.array([0, 3]), "Out@GRAD": array(2)}
    with pytest.raises(pm.OpError, match="Indices holds 3"):
        run_op("kthvalue_grad", given, {"k": 1})
