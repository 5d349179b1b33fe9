"""The same bytes and initial values train equally here and in PaddlePaddle 2.6.2."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import layers

RANDOM = np.random.RandomState


def feeds_of(make, steps=5):
    return [make(RANDOM(100 + step)) for step in range(steps)]


def trained(train_in_both, loss, feeds, *more, **options):
    losses = train_in_both(pm.default_main_program(), pm.default_startup_program(), feeds, [loss, *more], **options)
    assert losses[-1] != losses[0]
    return losses


def test_linear_regression_with_sgd(train_in_both):
    x, y = layers.data("x", [-1, 13]), layers.data("y", [-1, 1])
    loss = layers.mean(layers.square_error_cost(layers.fc(x, 1), y))
    pm.optimizer.SGD(0.01).minimize(loss)
    random = RANDOM(0)
    feed = {"x": random.randn(20, 13).astype("float32"), "y": random.randn(20, 1).astype("float32")}
    losses = trained(train_in_both, loss, feed)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("act", ["tanh", "relu"])
def test_perceptron_with_adam_decay_and_clipping(train_in_both, act):
    x, label = layers.data("x", [-1, 8]), layers.data("label", [-1, 1], dtype="int64")
    logits = layers.fc(layers.fc(x, 16, act=act), 4)
    loss = layers.mean(layers.softmax_with_cross_entropy(logits, label))
    pm.optimizer.Adam(
        0.01, regularization=pm.regularizer.L2Decay(1e-3), grad_clip=pm.clip.GradientClipByGlobalNorm(0.5)
    ).minimize(loss)
    trained(
        train_in_both,
        loss,
        feeds_of(lambda random: {"x": random.randn(12, 8).astype("float32"), "label": random.randint(0, 4, (12, 1))}),
        logits,
    )


def test_convolutions_with_batch_norm_and_momentum(train_in_both):
    image, label = layers.data("image", [-1, 1, 16, 16]), layers.data("label", [-1, 1], dtype="int64")
    hidden = layers.pool2d(layers.conv2d(image, 6, 5, act="relu"), 2, "max", 2)
    hidden = layers.batch_norm(layers.conv2d(hidden, 8, 3, padding=1), act="relu")
    hidden = layers.fc(layers.pool2d(hidden, 2, "avg", 2), 20, act="relu")
    logits = layers.fc(hidden, 5)
    loss = layers.mean(layers.softmax_with_cross_entropy(logits, label))
    pm.optimizer.Momentum(0.05, 0.9).minimize(loss)
    trained(
        train_in_both,
        loss,
        feeds_of(lambda random: {"image": random.randn(8, 1, 16, 16).astype("float32"), "label": random.randint(0, 5, (8, 1))}),
        logits,
    )


@pytest.mark.parametrize("is_sparse", [True, False])
def test_word2vec_with_one_table_and_adagrad(train_in_both, is_sparse):
    words = [layers.data(f"word{i}", [-1, 1], dtype="int64") for i in range(4)]
    label = layers.data("next", [-1, 1], dtype="int64")
    rows = [layers.embedding(word, [30, 8], is_sparse=is_sparse, param_attr=pm.ParamAttr(name="table")) for word in words]
    rows = [layers.reshape(row, [-1, 8]) for row in rows]
    logits = layers.fc(layers.fc(layers.concat(rows, axis=1), 16, act="sigmoid"), 30)
    loss = layers.mean(layers.softmax_with_cross_entropy(logits, label))
    pm.optimizer.Adagrad(0.05).minimize(loss)
    trained(
        train_in_both,
        loss,
        feeds_of(lambda random: {name: random.randint(0, 30, (10, 1)) for name in ["word0", "word1", "word2", "word3", "next"]}),
        logits,
    )
