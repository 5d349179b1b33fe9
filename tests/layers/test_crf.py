# Conditional random fields and chunks, against an enumeration of all paths.
import itertools

import numpy as np
import pytest

import paddle_mini as pm
from programs import run, start
from sequence_cases import lod_tensor, split

RANDOM = np.random.default_rng(0)
SCORES = lod_tensor(RANDOM.normal(size=(5, 3)).astype("float32"), (2, 3))
TAGS = lod_tensor(np.array([[0], [2], [1], [1], [0]]), (2, 3))


def score(rows, tags, weight):
    moves = sum(weight[2 + a, b] for a, b in itertools.pairwise(tags))
    return rows[range(len(tags)), tags].sum() + weight[0, tags[0]] + weight[1, tags[-1]] + moves


def paths(rows):
    return [list(path) for path in itertools.product(range(3), repeat=len(rows))]


def field():
    x = pm.layers.data("x", [-1, 3], lod_level=1)
    tags = pm.layers.data("tags", [-1, 1], dtype="int64", lod_level=1)
    attr = pm.ParamAttr("moves", pm.initializer.Uniform(-1, 1))
    return x, tags, pm.layers.linear_chain_crf(x, tags, attr)


def test_linear_chain_crf():
    _, _, loss = field()
    value, weight = run(loss, "moves", x=SCORES, tags=TAGS)
    assert weight.shape == (5, 3)
    wanted = [
        np.log(sum(np.exp(score(rows, path, weight)) for path in paths(rows))) - score(rows, right[:, 0], weight)
        for rows, right in zip(split(SCORES), split(TAGS))
    ]
    np.testing.assert_allclose(value[:, 0], wanted, rtol=1e-5)


def test_crf_decoding():
    x, tags, _ = field()
    best, right = pm.layers.crf_decoding(x, "moves"), pm.layers.crf_decoding(x, pm.ParamAttr("moves"), label=tags)
    value, hits, weight = run(best, right, "moves", x=SCORES, tags=TAGS)
    wanted = np.concatenate([max(paths(rows), key=lambda path: score(rows, path, weight)) for rows in split(SCORES)])
    assert value[:, 0].tolist() == wanted.tolist() and value.dtype == np.int64
    assert hits[:, 0].tolist() == (wanted == TAGS.array[:, 0]).astype(int).tolist()


def test_padded_sequences_with_lengths_are_the_same():
    x = pm.layers.data("x", [-1, -1, 3])
    tags, length = pm.layers.data("tags", [-1, -1], dtype="int64"), pm.layers.data("length", [-1], dtype="int64")
    loss = pm.layers.linear_chain_crf(x, tags, "moves", length=length)
    best = pm.layers.crf_decoding(x, "moves", length=length)
    rows, labels = np.zeros((2, 3, 3), "f4"), np.zeros((2, 3), "int64")
    for i, (part, right) in enumerate(zip(split(SCORES), split(TAGS))):
        rows[i, : len(part)], labels[i, : len(part)] = part, right[:, 0]
    value, path, weight = run(loss, best, "moves", x=rows, tags=labels, length=np.array([2, 3]))
    for i, (part, right) in enumerate(zip(split(SCORES), split(TAGS))):
        total = np.log(sum(np.exp(score(part, way, weight)) for way in paths(part)))
        np.testing.assert_allclose(value[i, 0], total - score(part, right[:, 0], weight), rtol=1e-5)
        assert path[i, : len(part)].tolist() == max(paths(part), key=lambda way: score(part, way, weight))


def test_a_field_learns_its_labels():
    _, _, loss = field()
    pm.optimizer.SGD(0.5).minimize(pm.layers.mean(loss))
    executor = start()
    losses = [executor.run(feed={"x": SCORES, "tags": TAGS}, fetch_list=[loss])[0].sum() for _ in range(100)]
    assert losses[-1] < 0.3 * losses[0]


def test_decoding_without_the_weight():
    x, _, _ = field()
    with pytest.raises(pm.ProgramError, match=r"(?s)parameter 'movs' does not exist.*test_crf.py:"):
        pm.layers.crf_decoding(x, "movs")


def test_chunk_eval():
    found, right = (pm.layers.data(name, [-1, 1], dtype="int64", lod_level=1) for name in ("found", "right"))
    counts = pm.layers.chunk_eval(found, right, "IOB", 2)
    # B-0 I-0 O B-1 | B-1 I-1: the first and the last chunk are found
    feed = {
        "right": lod_tensor(np.array([[0], [1], [4], [2], [2], [3]]), (4, 2)),
        "found": lod_tensor(np.array([[0], [1], [0], [4], [2], [3]]), (4, 2)),
    }
    values = run(*counts, **feed)
    np.testing.assert_allclose([value.item() for value in values], [2 / 3, 2 / 3, 2 / 3, 3, 3, 2], rtol=1e-6)
    without = pm.layers.chunk_eval(found, right, "IOB", 2, excluded_chunk_types=[1])
    assert start().run(feed=feed, fetch_list=[without.correct])[0].item() == 1
    with pytest.raises(pm.ProgramError, match="BIO"):
        pm.layers.chunk_eval(found, right, "BIO", 2)
