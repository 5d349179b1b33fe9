# accuracy and topk.
import numpy as np

import paddle_mini as pm
from programs import run

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
