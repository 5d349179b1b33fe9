"""top_k_v2: the k largest, or smallest, elements along one axis and their indices."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    if x.ndim == 0:
        return {"Out": x, "Indices": np.int64(0)}
    # A stable sort keeps the lower index first among equals.
    order = np.argsort(-x if attrs["largest"] else x, axis=attrs["axis"], kind="stable")
    order = np.take(order, np.arange(attrs["k"]), axis=attrs["axis"])
    return {"Out": np.take_along_axis(x, order, axis=attrs["axis"]), "Indices": order.astype("int64")}


test_top_k_v2 = op_tests(
    "top_k_v2",
    reference,
    cases={
        "best": ({"X": array(3, 7)}, {}),
        "three": ({"X": array(3, 7)}, {"k": 3}),
        "all": ({"X": array(3, 7)}, {"k": 7}),
        "smallest": ({"X": array(3, 7)}, {"k": 3, "largest": False}),
        "first axis": ({"X": array(5, 4)}, {"k": 2, "axis": 0}),
        "middle axis": ({"X": array(2, 5, 3)}, {"k": 2, "axis": 1, "sorted": False}),
        "integers with ties": ({"X": ints(4, 30, high=5)}, {"k": 9}),
        "int32": ({"X": ints(4, 30, high=5, dtype="int32")}, {"k": 9, "largest": False}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {"k": 2}),
    },
    refusals={
        "k too large": ({"X": array(3, 4)}, {"k": 5}, pm.ShapeError, "k 5 4"),
        "k too large without dimensions": ({"X": array()}, {"k": 2}, pm.ShapeError, "k 2"),
        "no k": ({"X": array(3, 4)}, {"k": 0}, pm.ProgramError, "k 0"),
        "no such axis": ({"X": array(3, 4)}, {"axis": 2}, pm.ShapeError, "axis 2"),
    },
)

test_gradient = op_tests(
    "top_k_v2",
    reference,
    cases={
        "last axis": ({"X": array(3, 7)}, {"k": 3}),
        "first axis": ({"X": array(5, 4)}, {"k": 2, "axis": 0, "largest": False}),
        "one element": ({"X": array()}, {}),
    },
    gradients=["X"],
)


def test_equal_elements_in_order_of_index():
    for k in (1, 3):
        found = run_op("top_k_v2", {"X": np.zeros((2, 6), "float32")}, {"k": k})
        np.testing.assert_array_equal(found["Indices"], [range(k)] * 2)


def test_nan_is_the_largest():
    x = np.array([1.0, np.nan, 3.0, np.nan])
    np.testing.assert_array_equal(run_op("top_k_v2", {"X": x}, {"k": 3})["Indices"], [1, 3, 2])
    np.testing.assert_array_equal(run_op("top_k_v2", {"X": x}, {"k": 3, "largest": False})["Indices"], [0, 2, 1])
