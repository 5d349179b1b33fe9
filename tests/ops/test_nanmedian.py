"""nanmedian: the median of the elements that are not NaN."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op

NAN = np.where(array(3, 5, seed=2) > 0, np.nan, array(3, 5))
NAN[1] = np.nan


def reference(inputs, attrs):
    x = inputs["X"]
    axes = tuple(attrs["axis"]) or tuple(range(x.ndim))
    with pytest.warns(RuntimeWarning) if np.isnan(x).all(axes).any() else np.errstate():
        out = np.asarray(np.nanmedian(x, axes, keepdims=attrs["keepdim"]))
    return {"Out": out if x.dtype.kind == "f" else np.trunc(out).astype(x.dtype)}


test_nanmedian = op_tests(
    "nanmedian",
    reference,
    cases={
        "all": ({"X": array(3, 5)}, {}),
        "of two in the middle": ({"X": array(2, 4)}, {"axis": [1]}),
        "columns": ({"X": array(5, 3)}, {"axis": [0], "keepdim": True}),
        "outer axes": ({"X": array(3, 4, 5)}, {"axis": [0, -1]}),
        "all axes stay": ({"X": array(2, 3)}, {"keepdim": True}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {"axis": [1]}),
    },
    gradients=["X"],
    gradient_of=["Out"],
    unchecked=["MedianIndex"],
    values_only={
        "NaN": ({"X": NAN}, {"axis": [1]}),
        "all NaN": ({"X": np.full((2, 2), np.nan)}, {}),
        "equal elements": ({"X": np.array([2.0, 1, 1, 2])}, {}),
        "integers": ({"X": ints(3, 4, low=-9)}, {"axis": [1]}),
        "int32": ({"X": ints(3, 4, low=-9, dtype="int32")}, {}),
    },
    refusals={
        "no such axis": ({"X": array(3)}, {"axis": [1]}, pm.ShapeError, "1 dimensions"),
        "no elements": ({"X": array(3, 0)}, {}, pm.ShapeError, "[3, 0] axis 1"),
    },
)


def test_positions():
    x = np.array([[3.0, np.nan, 1, 2], [np.nan, 7, 5, np.nan], [np.nan] * 4])
    found = run_op("nanmedian", {"X": x}, {"axis": [1]}, ["Out", "MedianIndex"])
    np.testing.assert_array_equal(found["MedianIndex"], [[3, 3], [2, 1], [-1, -1]])
    given = {"X": x, "MedianIndex": found["MedianIndex"], "Out@GRAD": np.array([1.0, 2, 3])}
    gradient = run_op("nanmedian_grad", given, {"axis": [1]})["X@GRAD"]
    np.testing.assert_array_equal(gradient, [[0, 0, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]])


def test_the_gradient_refuses_positions_out_of_range():
    given = {"X": array(2, 3), "MedianIndex": np.array([[0, 1], [1, 3]]), "Out@GRAD": array(2)}
    with pytest.raises(pm.OpError, match="MedianIndex holds 3"):
        run_op("nanmedian_grad", given, {"axis": [1]})
