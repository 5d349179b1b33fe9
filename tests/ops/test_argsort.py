"""argsort: the elements along one axis, sorted, and their original indices."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    if x.ndim == 0:
        return {"Out": x, "Indices": np.int64(0)}
    # A stable sort keeps the lower index first among equals.
    order = np.argsort(-x if attrs["descending"] else x, axis=attrs["axis"], kind="stable")
    return {"Out": np.take_along_axis(x, order, axis=attrs["axis"]), "Indices": order.astype("int64")}


test_argsort = op_tests(
    "argsort",
    reference,
    cases={
        "last axis": ({"X": array(3, 7)}, {}),
        "descending": ({"X": array(3, 7)}, {"descending": True}),
        "first axis": ({"X": array(5, 4)}, {"axis": 0}),
        "middle axis": ({"X": array(2, 5, 3)}, {"axis": -2, "descending": True}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "empty lines": ({"X": array(3, 0)}, {}),
    },
    gradients=["X"],
    refusals={"no such axis": ({"X": array(3, 4)}, {"axis": 2}, pm.ShapeError, "axis 2")},
)

test_ties = op_tests(
    "argsort",
    reference,
    cases={"int64": ({"X": ints(4, 30, high=5)}, {}), "int32": ({"X": ints(4, 30, high=5, dtype="int32")}, {"descending": True})},
)


def test_nan_is_the_largest():
    x = np.array([1.0, np.nan, -np.inf, np.nan, np.inf])
    np.testing.assert_array_equal(run_op("argsort", {"X": x}, {})["Indices"], [2, 0, 4, 1, 3])
    np.testing.assert_array_equal(run_op("argsort", {"X": x}, {"descending": True})["Indices"], [1, 3, 4, 0, 2])
