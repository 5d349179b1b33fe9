"""softmax: Out = exp(X) / (sum of exp(X) along an axis)."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = np.atleast_1d(inputs["X"])
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(axis=attrs["axis"], keepdims=True, initial=-np.inf))
        out = e / e.sum(axis=attrs["axis"], keepdims=True)
    return {"Out": out.reshape(np.shape(inputs["X"]))}


test_softmax = op_tests(
    "softmax",
    reference,
    cases={
        "matrix": ({"X": array(3, 4)}, {}),
        "wide": ({"X": array(5, 1003, low=-9, high=9)}, {}),
        "first axis": ({"X": array(7, 33)}, {"axis": 0}),
        "wide columns": ({"X": array(2, 3, 2500)}, {"axis": 1}),
        "middle axis": ({"X": array(3, 4, 5)}, {"axis": 1}),
        "negative axis": ({"X": array(3, 4, 5)}, {"axis": -2}),
        "axis of one": ({"X": array(3, 1)}, {}),
        "one element": ({"X": array()}, {}),
        "one element, axis 0": ({"X": array()}, {"axis": 0}),
        "no rows": ({"X": array(0, 4)}, {}),
        "nothing in a row": ({"X": array(3, 0)}, {}),
        "nothing in a column": ({"X": array(0, 4)}, {"axis": 0}),
    },
    gradients=["X"],
    refusals={
        "no such axis": ({"X": array(3, 4)}, {"axis": 2}, pm.ShapeError, "axis 2"),
        "integers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
)

SPECIAL = np.array(
    [
        [1e4, -1e4, 0.0],
        [-np.inf, 0.0, 1.0],
        [-np.inf, -np.inf, 0.0],
        [np.inf, 0.0, 1.0],
        [-np.inf, -np.inf, -np.inf],
        [np.nan, 0.0, 1.0],
    ]
)

test_special_values = op_tests(
    "softmax",
    reference,
    cases={
        "rows": ({"X": SPECIAL}, {}),
        "long rows": ({"X": np.repeat(SPECIAL, 13, axis=1)}, {}),
        "columns": ({"X": SPECIAL.T}, {"axis": 0}),
    },
)


def test_what_is_masked_gets_exactly_nothing():
    out = run_op("softmax", {"X": np.float32([[0.0, -np.inf, -1e9, 1.0]])})["Out"]
    assert out[0, 1] == 0 and out[0, 2] == 0
