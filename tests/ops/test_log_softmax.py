"""log_softmax: Out = X - log(sum of exp(X) along an axis)."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    if x.size == 0 or x.ndim == 0:
        return {"Out": np.zeros(x.shape)}
    shifted = x - x.max(axis=attrs["axis"], keepdims=True)
    return {"Out": shifted - np.log(np.exp(shifted).sum(axis=attrs["axis"], keepdims=True))}


test_log_softmax = op_tests(
    "log_softmax",
    reference,
    cases={
        "rows": ({"X": array(5, 7, low=-5, high=5)}, {}),
        "long rows": ({"X": array(3, 100)}, {}),
        "middle axis": ({"X": array(2, 5, 20, low=-5, high=5)}, {"axis": 1}),
        "first axis": ({"X": array(5, 3)}, {"axis": -2}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "no classes": ({"X": array(4, 0)}, {}),
        "no columns": ({"X": array(4, 3, 0)}, {"axis": 1}),
    },
    gradients=["X"],
    refusals={"no such axis": ({"X": array(3, 5)}, {"axis": 2}, pm.ShapeError, "axis 2")},
)


@pytest.mark.parametrize("axis", [0, 1])
def test_large_numbers_do_not_overflow(axis):
    x = np.array([[1e4, 0], [0, -1e4]], "float32")
    np.testing.assert_array_equal(
        run_op("log_softmax", {"X": x}, {"axis": axis})["Out"], [[0, 0], [-1e4, -1e4]] if axis == 0 else [[0, -1e4], [0, -1e4]]
    )
