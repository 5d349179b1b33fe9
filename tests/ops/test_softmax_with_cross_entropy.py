"""softmax_with_cross_entropy: Loss = -sum(label log softmax(Logits)) along one axis."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, label, axis = inputs["Logits"], inputs["Label"], attrs["axis"]
    if attrs["use_softmax"] and x.size:
        # Trap: logits more than 64 below the largest count as 64 below.
        e = np.exp(np.maximum(x - x.max(axis=axis, keepdims=True), -64))
        softmax = e / e.sum(axis=axis, keepdims=True)
    else:
        softmax = x
    with np.errstate(divide="ignore"):
        log = np.maximum(np.log(softmax), -1e20)
    if attrs["soft_label"]:
        loss = -(label * log).sum(axis=axis, keepdims=True)
    else:
        ignored = label == attrs["ignore_index"]
        loss = np.where(ignored, 0.0, -np.take_along_axis(log, np.where(ignored, 0, label).astype("int64"), axis=axis))
    return {"Softmax": softmax, "Loss": loss}


def weights(*shape, axis=-1):
    label = array(*shape, low=0, seed=1)
    return label / label.sum(axis=axis, keepdims=True)


def hard(*shape, axis=-1, high=None, **more):
    labels = [1 if i == axis % len(shape) else n for i, n in enumerate(shape)]
    return {"Logits": array(*shape, low=-3, high=3), "Label": ints(*labels, high=high or shape[axis], seed=1, **more)}


IGNORED = {"Logits": array(4, 5), "Label": np.array([[1], [-100], [0], [-100]])}

test_softmax_with_cross_entropy = op_tests(
    "softmax_with_cross_entropy",
    reference,
    cases={
        "rows": (hard(6, 5), {}),
        "long rows": (hard(3, 100), {}),
        "int32": (hard(6, 5, dtype="int32"), {}),
        "three axes": (hard(2, 3, 4), {}),
        "middle axis": (hard(2, 5, 20, axis=1), {"axis": 1}),
        "first axis": (hard(5, 3, axis=0), {"axis": -2}),
        "one axis": (hard(5), {}),
        "not the stable way": (hard(6, 5), {"numeric_stable_mode": False}),
        "ignored": (IGNORED, {}),
        "ignored class": ({"Logits": array(3, 5), "Label": np.array([[1], [2], [0]])}, {"ignore_index": 2}),
        "ignored, middle axis": (
            {"Logits": array(2, 3, 2), "Label": np.array([[[0, -1]], [[-1, 2]]])},
            {"axis": 1, "ignore_index": -1},
        ),
        "soft": ({"Logits": array(6, 5), "Label": weights(6, 5)}, {"soft_label": True}),
        "soft, middle axis": ({"Logits": array(2, 5, 20), "Label": weights(2, 5, 20, axis=1)}, {"soft_label": True, "axis": 1}),
        "probabilities": ({"Logits": weights(6, 5), "Label": ints(6, 1, high=5)}, {"use_softmax": False}),
        "probabilities, ignored": ({"Logits": weights(4, 5), "Label": IGNORED["Label"]}, {"use_softmax": False}),
        "soft probabilities": ({"Logits": weights(6, 5), "Label": weights(6, 5)}, {"use_softmax": False, "soft_label": True}),
        "one element": (hard(1, 1), {}),
        "no rows": (hard(0, 4), {}),
        "no rows, soft": ({"Logits": array(0, 4), "Label": array(0, 4)}, {"soft_label": True}),
    },
    gradients=["Logits"],
    gradient_of=["Loss"],
    refusals={
        "label too large": ({"Logits": array(3, 5), "Label": np.array([[1], [5], [0]])}, {}, pm.OpError, "label 5 row 1"),
        "negative label": ({"Logits": array(3, 5), "Label": np.array([[1], [2], [-1]])}, {}, pm.OpError, "label -1 row 2"),
        "no classes": ({"Logits": array(3, 0), "Label": ints(3, 1)}, {}, pm.OpError, "0 classes"),
        "labels of one axis": ({"Logits": array(3, 5), "Label": ints(3)}, {}, pm.ShapeError, "Label [3] [3, 1]"),
        "hard label for soft": ({"Logits": array(3, 5), "Label": ints(3, 1)}, {"soft_label": True}, pm.ShapeError, "Label int64"),
        "no dimensions": ({"Logits": array(), "Label": np.array(0)}, {}, pm.ShapeError, "no dimensions"),
        "no such axis": (hard(3, 5), {"axis": 2}, pm.ShapeError, "axis 2"),
    },
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logits_are_cut_off_64_below_the_largest(dtype):
    out = run_op("softmax_with_cross_entropy", {"Logits": np.array([[0, -1000, -70]], dtype), "Label": np.array([[1]])})
    np.testing.assert_allclose(out["Loss"], 64, rtol=1e-6)
    np.testing.assert_allclose(out["Softmax"], [[1, np.exp(-64.0), np.exp(-64.0)]], rtol=1e-5)


def test_gradient_of_soft_labels_that_do_not_sum_to_one():
    # PaddlePaddle's gradient: softmax - label, for any sum of the labels.
    label, softmax, gradient = array(3, 5, low=0), weights(3, 5), array(3, 1, seed=2)
    inputs = {"Label": label, "Softmax": softmax, "Loss@GRAD": gradient}
    out = run_op("softmax_with_cross_entropy_grad", inputs, {"soft_label": True})
    np.testing.assert_allclose(out["Logits@GRAD"], (softmax - label) * gradient, rtol=1e-12)


def test_gradient_refuses_a_label_out_of_range():
    inputs = {"Label": np.array([[0], [5]]), "Softmax": weights(2, 5), "Loss@GRAD": array(2, 1)}
    with pytest.raises(pm.OpError, match="label 5 in row 1"):
        run_op("softmax_with_cross_entropy_grad", inputs)


def test_infinite_and_missing_numbers():
    x = np.array([[np.inf, 0, 0], [np.nan, 0, 0], [-np.inf, 0, 0]], "float32")
    out = run_op("softmax_with_cross_entropy", {"Logits": x, "Label": np.zeros((3, 1), "int64")})
    assert np.isnan(out["Loss"][:2]).all() and out["Loss"][2] > 60
