"""bpr_loss: the mean over the other classes of log(1 + exp(their score - the label's score))."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, label = inputs["X"], inputs["Label"]
    losses = np.log1p(np.exp(x - np.take_along_axis(x, label.astype("int64"), -1)))
    return {"Y": (losses.sum(-1, keepdims=True) - np.log(2)) / (x.shape[-1] - 1)}  # the label's own loss is log 2


def scores(*shape, dtype="int64"):
    return {"X": array(*shape, low=-3, high=3), "Label": ints(*shape[:-1], 1, high=shape[-1], dtype=dtype)}


X = scores(3, 4)

test_bpr_loss = op_tests(
    "bpr_loss",
    reference,
    cases={
        "matrix": (scores(5, 4), {}),
        "three axes": (scores(2, 3, 5), {}),
        "int32 labels": (scores(4, 3, dtype="int32"), {}),
        "one row": (scores(2), {}),
        "two classes": (scores(1, 2), {}),
        "no rows": (scores(0, 3), {}),
    },
    gradients=["X"],
    refusals={
        "label too large": ({**X, "Label": np.array([[0], [4], [1]])}, {}, pm.OpError, "label 4 row 1 4 classes"),
        "negative label": ({**X, "Label": np.array([[0], [1], [-1]])}, {}, pm.OpError, "label -1 row 2"),
        "one class": (scores(3, 1), {}, pm.ShapeError, "X [3, 1] two classes"),
        "other labels": ({**X, "Label": ints(4, 1, high=4)}, {}, pm.ShapeError, "Label [4, 1] [3, 1]"),
        "label of floats": ({**X, "Label": array(3, 1)}, {}, pm.Error, "Label"),
        "rank 0": ({"X": array(), "Label": ints(1)}, {}, pm.ShapeError, "X []"),
    },
)


def test_a_loss_too_large_for_exp_is_1e20():
    inputs = {"X": np.array([[0, 2000.0]]), "Label": np.array([[0]])}
    assert run_op("bpr_loss", inputs)["Y"].item() == 1e20
