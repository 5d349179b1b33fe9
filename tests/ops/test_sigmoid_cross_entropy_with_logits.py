"""sigmoid_cross_entropy_with_logits: Out = max(X, 0) - X Label + log(1 + exp(-|X|))."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, label = inputs["X"], inputs["Label"]
    # Trap: labels whose integer part is ignore_index are ignored.
    ignored = np.trunc(label) == attrs["ignore_index"]
    below = np.maximum(-x, 0) + np.log1p(np.exp(-np.abs(x)))  # -log sigmoid(x)
    out = np.where(ignored, 0.0, (1 - label) * x + inputs.get("pos_weight", 1.0) * below)
    return {"Out": out / max(1, np.sum(~ignored)) if attrs["normalize"] else out}


def pair(*shape, high=2):
    return {"X": array(*shape, low=-5, high=5), "Label": ints(*shape, low=-1, high=high).astype("float64")}


test_sigmoid_cross_entropy_with_logits = op_tests(
    "sigmoid_cross_entropy_with_logits",
    reference,
    cases={
        "matrix": ({"X": array(5, 7, low=-9, high=9), "Label": array(5, 7, low=0, seed=1)}, {}),
        "ignored": (pair(6, 7), {"ignore_index": -1}),
        "ignored 0": ({"X": array(40), "Label": array(40, low=-2, high=2, seed=1)}, {"ignore_index": 0}),
        "ignored 1": ({"X": array(40), "Label": array(40, low=0, high=3, seed=1)}, {"ignore_index": 1}),
        "normalized": (pair(6, 7), {"ignore_index": -1, "normalize": True}),
        "all ignored": ({"X": array(4), "Label": np.full(4, -1.0)}, {"ignore_index": -1, "normalize": True}),
        "weighted": ({**pair(6, 7), "pos_weight": array(6, 7, low=0, high=3, seed=2)}, {}),
        "weighted, normalized": (
            {**pair(6, 7), "pos_weight": array(6, 7, low=0, high=3, seed=2)},
            {"ignore_index": -1, "normalize": True},
        ),
        "weighted nothing": ({**pair(0, 7), "pos_weight": array(0, 7)}, {}),
        "one element": (pair(), {}),
        "no rows": (pair(0, 3), {"normalize": True}),
    },
    gradients=["X"],
    refusals={
        "another shape": ({"X": array(3), "Label": array(4)}, {}, pm.ShapeError, "X [3] Label [4]"),
        "another weight": (
            {"X": array(3), "Label": array(3), "pos_weight": array(1, 3)},
            {},
            pm.ShapeError,
            "X [3] pos_weight [1, 3]",
        ),
        "int labels": ({"X": array(3), "Label": ints(3)}, {}, pm.ShapeError, "Label int64"),
    },
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_logits_do_not_overflow(dtype):
    inputs = {"X": np.array([1e4, -1e4, 1e4], dtype), "Label": np.array([1, 0, 0], dtype)}
    np.testing.assert_array_equal(run_op("sigmoid_cross_entropy_with_logits", inputs)["Out"], [0, 0, 1e4])
    gradient = run_op("sigmoid_cross_entropy_with_logits_grad", {**inputs, "Out@GRAD": np.ones(3, dtype)})["X@GRAD"]
    np.testing.assert_array_equal(gradient, [0, 0, 1])
