"""index_add: X with slabs added along an axis."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    out, axis = inputs["X"].copy(), attrs["axis"]
    np.add.at(np.moveaxis(out, axis, 0), inputs["Index"].astype("int64"), np.moveaxis(inputs["AddValue"], axis, 0))
    return {"Out": out}


test_index_add = op_tests(
    "index_add",
    reference,
    cases={
        "rows": ({"X": array(5, 4), "Index": np.array([3, 0, 3]), "AddValue": array(3, 4)}, {}),
        "last axis": ({"X": array(3, 5), "Index": np.array([1, -1], "int32"), "AddValue": array(3, 2)}, {"axis": -1}),
        "middle axis": ({"X": array(2, 3, 4), "Index": np.array([2, 0]), "AddValue": array(2, 2, 4)}, {"axis": 1}),
        "one element": ({"X": array(1), "Index": np.array([0]), "AddValue": array(1)}, {}),
        "no positions": ({"X": array(3, 4), "Index": np.zeros(0, "int64"), "AddValue": array(0, 4)}, {}),
        "no columns": ({"X": array(3, 0), "Index": np.array([1]), "AddValue": array(1, 0)}, {}),
    },
    gradients=["X", "AddValue"],
    values_only={"integers": ({"X": ints(5, 2), "Index": np.array([3, 3]), "AddValue": ints(2, 2)}, {})},
    refusals={
        "too high": ({"X": array(3), "Index": np.array([0, 3]), "AddValue": array(2)}, {}, pm.OpError, "3 position 1"),
        "too low": ({"X": array(3), "Index": np.array([-4]), "AddValue": array(1)}, {}, pm.OpError, "-4"),
        "other shape": (
            {"X": array(3, 4), "Index": np.array([0]), "AddValue": array(1, 3)},
            {},
            pm.ShapeError,
            "AddValue [1, 3] [1, 4]",
        ),
        "no such axis": ({"X": array(3), "Index": np.array([0]), "AddValue": array(1)}, {"axis": 1}, pm.ShapeError, "axis 1"),
        "a number": ({"X": array(), "Index": np.array([0]), "AddValue": array()}, {}, pm.ShapeError, "axis 0"),
        "a matrix": ({"X": array(3), "Index": ints(1, 1), "AddValue": array(1)}, {}, pm.ShapeError, "Index 2 1"),
    },
)
