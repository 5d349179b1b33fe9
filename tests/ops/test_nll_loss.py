"""nll_loss: Out = -X[label] Weight[label]."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, label = inputs["X"], inputs["Label"]
    counts = label != attrs["ignore_index"]
    at = np.where(counts, label, 0).astype("int64")
    weight = inputs["Weight"][at] if "Weight" in inputs else np.ones(label.shape)
    loss = np.where(counts, -np.take_along_axis(x, at[:, None], axis=1)[:, 0] * weight, 0.0)
    if attrs["reduction"] == "none":
        return {"Out": loss, "Total_weight": np.asarray(0.0)}
    total = float(np.sum(weight * counts))
    out = np.sum(loss) / (total if attrs["reduction"] == "mean" and total else 1)
    return {"Out": np.asarray(out), "Total_weight": np.asarray(total)}


ROWS = {"X": array(6, 5), "Label": ints(6, high=5)}
IMAGES = {"X": array(2, 3, 4, 5), "Label": ints(2, 4, 5, high=3)}
WEIGHT = {"Weight": array(5, low=0.1)}

test_nll_loss = op_tests(
    "nll_loss",
    reference,
    cases={
        "mean": (ROWS, {}),
        "sum": (ROWS, {"reduction": "sum"}),
        "each": (ROWS, {"reduction": "none"}),
        "int32": ({**ROWS, "Label": ints(6, high=5, dtype="int32")}, {}),
        "weights": ({**ROWS, **WEIGHT}, {}),
        "weights, each": ({**ROWS, **WEIGHT}, {"reduction": "none"}),
        "images": (IMAGES, {}),
        "images, each": ({**IMAGES, "Weight": array(3, low=0.1)}, {"reduction": "none"}),
        "ignored": ({**WEIGHT, "X": array(4, 5), "Label": np.array([1, -100, 0, -100])}, {}),
        "ignored class": ({"X": array(3, 5), "Label": np.array([1, 2, 0])}, {"ignore_index": 2, "reduction": "none"}),
        "all ignored": ({"X": array(2, 5), "Label": np.array([-100, -100])}, {}),
        "one element": ({"X": array(1, 1), "Label": np.array([0])}, {}),
        "no rows": ({"X": array(0, 4), "Label": ints(0)}, {}),
        "no rows, each": ({"X": array(0, 4), "Label": ints(0)}, {"reduction": "none"}),
    },
    gradients=["X"],
    gradient_of=["Out"],
    refusals={
        "label too large": ({"X": array(3, 5), "Label": np.array([1, 5, 0])}, {}, pm.OpError, "label 5 row 1"),
        "no classes": ({"X": array(3, 0), "Label": np.array([1, 5, 0])}, {}, pm.OpError, "0 classes"),
        "column of labels": ({"X": array(3, 5), "Label": ints(3, 1)}, {}, pm.ShapeError, "Label [3, 1] [3]"),
        "three dimensions": ({"X": array(3, 5, 2), "Label": ints(3, 2)}, {}, pm.ShapeError, "X [3, 5, 2]"),
        "too few weights": ({**ROWS, "Weight": array(4)}, {}, pm.ShapeError, "Weight [4] 5 classes"),
        "no such reduction": (ROWS, {"reduction": "max"}, pm.ProgramError, "reduction max"),
    },
)


def test_gradient_refuses_a_label_out_of_range():
    inputs = {"X": array(2, 3), "Label": np.array([0, 7]), "Total_weight": np.asarray(2.0), "Out@GRAD": array()}
    with pytest.raises(pm.OpError, match="label 7 in row 1"):
        run_op("nll_loss_grad", inputs)
