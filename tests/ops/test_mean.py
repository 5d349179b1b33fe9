"""mean: Out = the mean of all elements of X, without dimensions."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    return {"Out": np.asarray(np.mean(inputs["X"]))}


test_mean = op_tests(
    "mean",
    reference,
    cases={"matrix": ({"X": array(3, 4)}, {}), "long": ({"X": array(100, 1003)}, {}), "one element": ({"X": array()}, {})},
    gradients=["X"],
    refusals={
        "integers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
)


def gradient_reference(inputs, attrs):
    x = inputs["X"]
    return {"X@GRAD": np.full(x.shape, inputs["Out@GRAD"].reshape(()) / max(x.size, 1))}


test_gradient = op_tests(
    "mean_grad",
    gradient_reference,
    cases={
        "gradient of one dimension": ({"X": array(3, 4), "Out@GRAD": array(1)}, {}),  # in programs before 2.5
        "no rows": ({"X": array(0, 4), "Out@GRAD": array()}, {}),
    },
    refusals={"two gradients": ({"X": array(3, 4), "Out@GRAD": array(2)}, {}, pm.ShapeError, "Out@GRAD [2] one element")},
)


def test_of_nothing():
    assert np.isnan(run_op("mean", {"X": array(0, 4)})["Out"])


def test_a_long_sum_keeps_its_digits():
    """Adding a million float32 one by one would have an error of a thousandth."""
    x = np.full(1 << 20, 0.1, "float32")
    np.testing.assert_allclose(run_op("mean", {"X": x})["Out"], np.float32(0.1), rtol=1e-6)
