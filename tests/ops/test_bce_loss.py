"""bce_loss: Out = -(Label log X + (1 - Label) log(1 - X))."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, label = inputs["X"], inputs["Label"]
    with np.errstate(divide="ignore"):
        return {"Out": -label * np.maximum(np.log(x), -100) - (1 - label) * np.maximum(np.log(1 - x), -100)}


def pair(*shape):
    return {"X": array(*shape, low=0.05, high=0.95), "Label": array(*shape, low=0, high=1, seed=1)}


test_bce_loss = op_tests(
    "bce_loss",
    reference,
    cases={"matrix": (pair(3, 40), {}), "one element": (pair(), {}), "no rows": (pair(0, 4), {})},
    gradients=["X"],
    refusals={
        "no probability": ({"X": np.array([0.5, 1.5]), "Label": array(2)}, {}, pm.OpError, "1.5 position 1"),
        "not a number": ({"X": np.array([np.nan]), "Label": array(1)}, {}, pm.OpError, "nan position 0"),
        "another shape": ({"X": array(3, low=0), "Label": array(4)}, {}, pm.ShapeError, "X [3] Label [4]"),
    },
)


def test_logarithms_stop_at_minus_100():
    inputs = {"X": np.array([0.0, 1.0, 0.0]), "Label": np.array([1.0, 0.0, 0.0])}
    np.testing.assert_array_equal(run_op("bce_loss", inputs)["Out"], [100, 100, 0])
    gradient = run_op("bce_loss_grad", {**inputs, "Out@GRAD": np.ones(3)})["X@GRAD"]
    np.testing.assert_allclose(gradient, [-1e12, 1e12, 0])
