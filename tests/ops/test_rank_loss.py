"""rank_loss: with o = Left - Right, Out = log(1 + exp(o)) - Label o."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    o = inputs["Left"] - inputs["Right"]
    return {"Out": np.logaddexp(0, o) - inputs["Label"] * o}


def scores(*shape):
    return {
        "Label": array(*shape, low=0),
        "Left": array(*shape, low=-4, high=4, seed=1),
        "Right": array(*shape, low=-4, high=4, seed=2),
    }


test_rank_loss = op_tests(
    "rank_loss",
    reference,
    cases={
        "column": (scores(40, 1), {}),
        "one axis": (scores(5), {}),
        "one element": (scores(), {}),
        "no rows": (scores(0, 1), {}),
    },
    gradients=["Left", "Right"],
    refusals={
        "another shape": ({**scores(3, 1), "Right": array(4, 1)}, {}, pm.ShapeError, "Label [3, 1] Right [4, 1]"),
        "int labels": ({**scores(3, 1), "Label": ints(3, 1)}, {}, pm.ShapeError, "Label int64"),
    },
)


def test_scores_far_apart_do_not_overflow():
    inputs = {"Label": np.zeros(2), "Left": np.array([1e4, 0]), "Right": np.array([0, 1e4])}
    np.testing.assert_array_equal(run_op("rank_loss", inputs)["Out"], [1e4, 0])
