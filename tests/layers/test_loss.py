# Losses against their formulas.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run

LOGITS = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
LABEL = np.array([[0], [2], [1], [2]])
PROBABILITY = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
LOSS = -np.log(np.take_along_axis(PROBABILITY, LABEL, 1))


def feeds():
    return pm.layers.data("x", [-1, 3]), pm.layers.data("label", [-1, 1], dtype="int64")


def test_softmax_with_cross_entropy():
    x, label = feeds()
    loss, softmax = pm.layers.softmax_with_cross_entropy(x, label, return_softmax=True)
    values = run(loss, softmax, x=LOGITS, label=LABEL)
    np.testing.assert_allclose(values[0], LOSS, rtol=1e-5)
    np.testing.assert_allclose(values[1], PROBABILITY, rtol=1e-5)


def test_softmax_with_cross_entropy_of_soft_labels():
    x, target = pm.layers.data("x", [-1, 3]), pm.layers.data("target", [-1, 3])
    value, = run(pm.layers.softmax_with_cross_entropy(x, target, soft_label=True), x=LOGITS, target=PROBABILITY)
    np.testing.assert_allclose(value, -(PROBABILITY * np.log(PROBABILITY)).sum(1, keepdims=True), rtol=1e-5)


def test_cross_entropy_takes_probabilities():
    x, label = feeds()
    loss = pm.layers.cross_entropy(pm.layers.softmax(x), label)
    assert op_types() == ["softmax", "cross_entropy2"]
    np.testing.assert_allclose(run(loss, x=LOGITS, label=LABEL)[0], LOSS, rtol=1e-5)


def test_ignored_rows_cost_nothing():
    x, label = feeds()
    losses = [pm.layers.softmax_with_cross_entropy(x, label, ignore_index=2),
              pm.layers.cross_entropy(pm.layers.softmax(x), label, ignore_index=2)]
    for value in run(*losses, x=LOGITS, label=LABEL):
        np.testing.assert_allclose(value, np.where(LABEL == 2, 0, LOSS), rtol=1e-5)


def test_a_label_that_is_no_class():
    x, label = feeds()
    with pytest.raises(pm.OpError, match="test_loss.py:"):
        run(pm.layers.softmax_with_cross_entropy(x, label), x=LOGITS, label=LABEL + 1)


def test_square_error_cost():
    x, y = pm.layers.data("x", [-1, 3]), pm.layers.data("y", [-1, 3])
    value, = run(pm.layers.square_error_cost(x, y), x=LOGITS, y=PROBABILITY)
    np.testing.assert_allclose(value, (LOGITS - PROBABILITY) ** 2, rtol=1e-5)
