"""cross_entropy: Y = -log(X[label]), or -sum(Label log X), row by row."""

import numpy as np
import pytest

import paddle_mini as pm
from families.entropy import CASES, REFUSALS, probabilities
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, label = inputs["X"], inputs["Label"]
    with np.errstate(divide="ignore"):
        log = np.clip(np.log(x), -1e20, 1e20)
    if attrs["soft_label"]:
        return {"Y": -(label * log).sum(axis=-1, keepdims=True)}
    ignored = label == attrs["ignore_index"]
    at = np.where(ignored, 0, label).astype("int64").reshape(*x.shape[:-1], 1)
    return {"Y": np.where(ignored, 0.0, -np.take_along_axis(log, at, axis=-1).reshape(label.shape))}


test_cross_entropy = op_tests(
    "cross_entropy",
    reference,
    cases={
        **CASES,
        "soft": ({"X": probabilities(6, 20), "Label": array(6, 20, low=0, seed=1)}, {"soft_label": True}),
        "soft, three axes": ({"X": probabilities(2, 3, 5), "Label": array(2, 3, 5, low=0)}, {"soft_label": True}),
        "no rows, soft": ({"X": array(0, 4), "Label": array(0, 4)}, {"soft_label": True}),
    },
    gradients=["X"],
    refusals={
        **REFUSALS,
        "hard label for soft": (
            {"X": probabilities(3, 5), "Label": ints(3, 1)},
            {"soft_label": True},
            pm.ShapeError,
            "Label int64",
        ),
        "no dimensions": ({"X": array(), "Label": np.array(0)}, {}, pm.ShapeError, "no dimensions"),
    },
)


def test_probability_zero_costs_a_finite_loss():
    x = np.array([[0.0, 1.0]], "float32")
    assert run_op("cross_entropy", {"X": x, "Label": np.array([[0]])})["Y"] == np.float32(1e20)
    soft = run_op("cross_entropy", {"X": x, "Label": np.array([[0, 1]], "float32")}, {"soft_label": True})
    assert soft["Y"] == 0


def test_gradient_refuses_a_label_out_of_range():
    inputs = {"X": probabilities(2, 3), "Y@GRAD": array(2, 1), "Label": np.array([[0], [7]])}
    with pytest.raises(pm.OpError, match="label 7 in row 1"):
        run_op("cross_entropy_grad", inputs)
