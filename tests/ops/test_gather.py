"""gather: what X has along an axis at the positions in Index."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    index = inputs["Index"]
    return {"Out": np.take(inputs["X"], index.reshape(-1) if index.ndim else index, axis=attrs["axis"])}


test_gather = op_tests(
    "gather",
    reference,
    cases={
        "rows": ({"X": array(5, 4), "Index": np.array([3, 0, 3])}, {}),
        "last axis": ({"X": array(3, 5), "Index": np.array([1, 4, 4, 1])}, {"axis": -1}),
        "middle axis": ({"X": array(2, 3, 4), "Index": np.array([2, 0], "int32")}, {"axis": 1}),
        "a column": ({"X": array(5, 4), "Index": np.array([[3], [0]])}, {}),
        "one number": ({"X": array(5, 4), "Index": np.array(2)}, {}),
        "one element": ({"X": array(1), "Index": np.array([0])}, {}),
        "nothing picked": ({"X": array(3, 4), "Index": np.zeros(0, "int64")}, {}),
        "no columns": ({"X": array(3, 0), "Index": np.array([1])}, {}),
    },
    gradients=["X"],
    refusals={
        "too high": ({"X": array(3, 4), "Index": np.array([0, 3])}, {}, pm.OpError, "3 position 1"),
        "negative": ({"X": array(3, 4), "Index": np.array([-1])}, {}, pm.OpError, "-1"),
        "from nothing": ({"X": array(0, 4), "Index": np.array([0])}, {}, pm.OpError, "0"),
        "no such axis": ({"X": array(3), "Index": np.array([0])}, {"axis": 1}, pm.ShapeError, "axis 1"),
        "a number": ({"X": array(), "Index": np.array([0])}, {}, pm.ShapeError, "X no dimensions"),
        "a matrix": ({"X": array(3), "Index": np.zeros((2, 2), "int64")}, {}, pm.ShapeError, "Index [2, 2]"),
        "float positions": ({"X": array(3), "Index": array(2)}, {}, pm.ShapeError, "Index float64"),
    },
)

test_numbers = op_tests("gather", reference, cases={"whole numbers": ({"X": ints(5, 2), "Index": np.array([3, 0])}, {})})
