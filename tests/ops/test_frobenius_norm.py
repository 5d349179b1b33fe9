"""frobenius_norm: Out = the root of the sum of X^2 over some axes."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    axes = tuple(attrs["dim"]) if x.ndim and attrs["dim"] and not attrs["reduce_all"] else None
    return {"Out": np.asarray(np.sqrt((x * x).sum(axis=axes, keepdims=attrs["keep_dim"])))}


test_frobenius_norm = op_tests(
    "frobenius_norm",
    reference,
    cases={
        "first axis": ({"X": array(3, 4)}, {}),
        "matrices": ({"X": array(2, 3, 4)}, {"dim": [-2, -1]}),
        "kept": ({"X": array(2, 3, 4)}, {"dim": [0, 2], "keep_dim": True}),
        "all": ({"X": array(2, 3, 4)}, {"reduce_all": True}),
        "number": ({"X": array()}, {}),
        "one element": ({"X": array(1)}, {}),
        "no columns": ({"X": array(3, 0)}, {}),
        "empty sums": ({"X": array(0, 3)}, {}),
    },
    gradients=["X"],
    refusals={
        "no such axis": ({"X": array(3, 4)}, {"dim": [2]}, pm.ShapeError, "dim 2"),
        "integers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)


def test_gradient_of_zeros_is_zero():
    inputs = {"X": np.zeros((2, 3)), "Out": np.zeros(3), "Out@GRAD": np.ones(3)}
    np.testing.assert_array_equal(run_op("frobenius_norm_grad", inputs)["X@GRAD"], np.zeros((2, 3)))
