# accuracy, topk and auc.
import numpy as np
import pytest

import paddle_mini as pm
from programs import run, start

SCORES = np.array([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3], [0.2, 0.3, 0.5], [0.6, 0.1, 0.3]], "float32")
LABEL = np.array([[1], [2], [2], [1]])


def test_accuracy_counts_labels_among_the_k_greatest():
    x, label = pm.layers.data("x", [-1, 3]), pm.layers.data("label", [-1, 1], dtype="int64")
    outs = [pm.layers.accuracy(x, label, k=k) for k in (1, 2, 3)]
    values = run(*outs, x=SCORES, label=LABEL)
    assert [float(value.item()) for value in values] == [0.5, 0.75, 1.0]


def test_topk():
    values, indices = pm.layers.topk(pm.layers.data("x", [-1, 3]), 2)
    found = run(values, indices, x=SCORES)
    np.testing.assert_array_equal(found[1], np.argsort(-SCORES, 1)[:, :2])
    np.testing.assert_array_equal(found[0], -np.sort(-SCORES, 1)[:, :2])


@pytest.mark.parametrize("slide_steps, counted", [(0, 3), (2, 2)])
def test_auc_counts_over_runs(slide_steps, counted):
    x, label = pm.layers.data("x", [-1, 2]), pm.layers.data("label", [-1, 1], dtype="int64")
    area, counts = pm.layers.auc(x, label, slide_steps=slide_steps)
    random, exe, scores, truths = np.random.default_rng(0), start(), [], []
    for _ in range(3):
        scores.append(random.integers(0, 64, 20) / 64)
        truths.append(random.integers(0, 2, 20))
        feed = {"x": np.stack([1 - scores[-1], scores[-1]], 1).astype("float32"), "label": truths[-1][:, None]}
        (value,) = exe.run(feed=feed, fetch_list=[area])
    score, truth = np.concatenate(scores[-counted:]), np.concatenate(truths[-counted:])
    pairs = score[truth == 1][:, None] - score[truth == 0]
    assert value == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    assert all(var.persistable for var in counts)
