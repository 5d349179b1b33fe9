"""cross_entropy2: Y = -log(X[label]), row by row."""

import numpy as np
import pytest

import paddle_mini as pm
from families.entropy import CASES, REFUSALS, probabilities
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, label = inputs["X"], inputs["Label"]
    at = np.where(label == attrs["ignore_index"], 0, label).reshape(*x.shape[:-1], 1)
    ignored = (label == attrs["ignore_index"]).reshape(at.shape)
    match = np.where(ignored, 0.0, np.take_along_axis(x, at, axis=-1))
    with np.errstate(divide="ignore"):
        loss = np.where(ignored, 0.0, np.minimum(-np.log(match), 1e20))
    # Trap: XShape has its empty dimension at the end, unlike that of reshape2.
    return {"Y": loss.reshape(label.shape), "MatchX": match, "XShape": np.zeros((*x.shape, 0))}


test_cross_entropy2 = op_tests(
    "cross_entropy2",
    reference,
    cases={**CASES, "one axis": ({"X": probabilities(5), "Label": np.array([3])}, {})},
    gradients=["X"],
    gradient_of=["Y"],
    refusals=REFUSALS,
)


def test_probability_zero_costs_a_finite_loss():
    out = run_op("cross_entropy2", {"X": np.array([[0.0, 1.0]], "float32"), "Label": np.array([[0]])})
    assert out["Y"] == np.float32(1e20)


def test_gradient_refuses_a_label_out_of_range():
    inputs = {"Y@GRAD": array(2, 1), "MatchX": array(2, 1), "Label": np.array([[0], [7]]), "XShape": array(2, 3, 0)}
    with pytest.raises(pm.OpError, match="label 7 in row 1"):
        run_op("cross_entropy_grad2", inputs)
