# CTC against an enumeration of all alignments; edit distance.
import itertools

import numpy as np
import pytest

import paddle_mini as pm
from programs import run, start
from sequence_cases import lod_tensor, split

LOGITS = lod_tensor(np.random.default_rng(0).normal(size=(7, 3)).astype("float32"), (3, 4))
LABEL = lod_tensor(np.array([[1], [2], [2]]), (1, 2))


def spelled(path, blank=0):
    return [a for a, before in zip(path, [None, *path]) if a != before and a != blank]


def loss_of(rows, label):
    p = np.exp(rows) / np.exp(rows).sum(1, keepdims=True)
    return -np.log(
        sum(p[range(len(rows)), path].prod() for path in itertools.product(range(3), repeat=len(rows)) if spelled(path) == label)
    )


WANTED = [loss_of(rows, label[:, 0].tolist()) for rows, label in zip(split(LOGITS), split(LABEL))]


def feeds():
    return pm.layers.data("x", [-1, 3], lod_level=1), pm.layers.data("label", [-1, 1], dtype="int64", lod_level=1)


def test_warpctc():
    (value,) = run(pm.layers.warpctc(*feeds()), x=LOGITS, label=LABEL)
    np.testing.assert_allclose(value[:, 0], WANTED, rtol=1e-5)


def test_warpctc_of_padded_sequences():
    x, label = pm.layers.data("x", [-1, -1, 3]), pm.layers.data("label", [-1, -1], dtype="int64")
    lengths = [pm.layers.data(name, [-1], dtype="int64") for name in ("steps", "words")]
    rows, labels = np.zeros((4, 2, 3), "f4"), np.array([[1, 0], [2, 2]])
    rows[:3, 0], rows[:, 1] = split(LOGITS)
    (value,) = run(
        pm.layers.warpctc(x, label, input_length=lengths[0], label_length=lengths[1]),
        x=rows,
        label=labels,
        steps=np.array([3, 4]),
        words=np.array([1, 2]),
    )
    np.testing.assert_allclose(value[:, 0], WANTED, rtol=1e-5)
    with pytest.raises(pm.ProgramError, match="give both input_length and label_length"):
        pm.layers.warpctc(x, label, input_length=lengths[0])


def test_logits_learn_the_label():
    x, label = feeds()
    x.stop_gradient = False
    loss = pm.layers.warpctc(pm.layers.fc(x, 3), label)
    pm.optimizer.Adam(0.1).minimize(pm.layers.mean(loss))
    executor = start()
    losses = [executor.run(feed={"x": LOGITS, "label": LABEL}, fetch_list=[loss])[0].sum() for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0]


def test_greedy_decoder():
    x, _ = feeds()
    best = np.array([1, 1, 0, 2, 0, 2, 2])
    rows = lod_tensor(np.eye(3, dtype="float32")[best], (3, 4))
    (value,) = start().run(feed={"x": rows}, fetch_list=[pm.layers.ctc_greedy_decoder(x, 0)], return_numpy=False)
    assert [part[:, 0].tolist() for part in split(value)] == [[1], [2, 2]]


def test_greedy_decoder_of_padded_sequences():
    x, length = pm.layers.data("x", [-1, -1, 3]), pm.layers.data("length", [-1, 1], dtype="int64")
    rows = np.eye(3, dtype="float32")[np.array([[1, 1, 0, 2], [2, 0, 2, 2]])]
    decoded = pm.layers.ctc_greedy_decoder(x, 0, length, padding_value=-1)
    value, lengths = run(*decoded, x=rows, length=np.array([[3], [4]]))
    assert value.tolist() == [[1, -1, -1, -1], [2, 2, -1, -1]] and lengths.ravel().tolist() == [1, 2]


def test_edit_distance():
    a, b = (pm.layers.data(name, [-1, 1], dtype="int64", lod_level=1) for name in "ab")
    feed = {"a": lod_tensor(np.array([[1], [2], [3], [4]]), (3, 1)), "b": lod_tensor(np.array([[1], [3], [4], [9]]), (2, 2))}
    outputs = [
        pm.layers.edit_distance(a, b, normalized=False),
        pm.layers.edit_distance(a, b),
        pm.layers.edit_distance(a, b, normalized=False, ignored_tokens=[2, 9]),
    ]
    values = run(*(out for out, _ in outputs), outputs[0][1], **feed)
    assert [value.ravel().tolist() for value in values] == [[1, 1], [0.5, 0.5], [0, 0], [2]]
    with pytest.raises(pm.ProgramError, match="not with lengths"):
        pm.layers.edit_distance(a, b, ignored_tokens=[1], input_length=a, label_length=b)
