"""scatter_nd_add: X with updates added at given coordinates."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    out, index = inputs["X"].copy(), inputs["Index"]
    np.add.at(out, tuple(np.moveaxis(index, -1, 0)) if index.shape[-1] else ..., inputs["Updates"])
    return {"Out": out}


test_scatter_nd_add = op_tests(
    "scatter_nd_add",
    reference,
    cases={
        "rows": ({"X": array(5, 4), "Index": np.array([[3], [0]]), "Updates": array(2, 4)}, {}),
        "a row twice": ({"X": array(5, 4), "Index": np.array([[3], [3]], "int32"), "Updates": array(2, 4)}, {}),
        "elements": ({"X": array(5, 4), "Index": np.array([[3, 1], [0, 0], [3, 1]]), "Updates": array(3)}, {}),
        "matrix of rows": ({"X": array(3, 2, 4), "Index": ints(2, 3, 2, high=2), "Updates": array(2, 3, 4)}, {}),
        "one place": ({"X": array(3, 4), "Index": np.array([1]), "Updates": array(4)}, {}),
        "one element": ({"X": array(1), "Index": np.array([[0]]), "Updates": array(1)}, {}),
        "no places": ({"X": array(3, 4), "Index": np.zeros((0, 1), "int64"), "Updates": array(0, 4)}, {}),
        "no rows": ({"X": array(0, 4), "Index": np.zeros((0, 1), "int64"), "Updates": array(0, 4)}, {}),
    },
    gradients=["X", "Updates"],
    values_only={"integers": ({"X": ints(5, 2), "Index": np.array([[3], [3]]), "Updates": ints(2, 2)}, {})},
    refusals={
        "too high": ({"X": array(3), "Index": np.array([[3]]), "Updates": array(1)}, {}, pm.OpError, "3 axis 0"),
        "negative": ({"X": array(3), "Index": np.array([[-1]]), "Updates": array(1)}, {}, pm.OpError, "-1 axis 0"),
        "other updates": (
            {"X": array(3, 4), "Index": np.array([[1]]), "Updates": array(1, 3)},
            {},
            pm.ShapeError,
            "Updates [1, 3] [1, 4]",
        ),
        "too many coordinates": (
            {"X": array(3), "Index": np.array([[0, 0]]), "Updates": array(1)},
            {},
            pm.ShapeError,
            "2 coordinates",
        ),
        "other type": ({"X": array(3), "Index": np.array([[0]]), "Updates": ints(1)}, {}, pm.ShapeError, "int64"),
    },
)
