"""linear_chain_crf: LogLikelihood is the NEGATIVE logarithm, against a sum over all paths."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def score(x, w, path):
    inner = sum(w[2 + a, b] for a, b in itertools.pairwise(path))
    return w[0, path[0]] + w[1, path[-1]] + inner + sum(x[k, tag] for k, tag in enumerate(path))


def loss(x, w, label):
    if not len(x):
        return 0.0
    scores = [score(x, w, path) for path in itertools.product(range(x.shape[1]), repeat=len(x))]
    return np.logaddexp.reduce(scores) - score(x, w, [int(tag) for tag in label])


def pieces(inputs):
    x, label = inputs["Emission"], inputs["Label"]
    if "Length" in inputs:
        lengths = np.asarray(inputs["Length"]).reshape(-1)
        return [(x[i, :n], np.asarray(label).reshape(x.shape[:2])[i, :n]) for i, n in enumerate(lengths)]
    offsets, label = x.lod[-1], np.asarray(getattr(label, "array", label)).reshape(-1)
    return [(x.array[a:b], label[a:b]) for a, b in itertools.pairwise(offsets)]


def reference(inputs, attrs):
    losses = [loss(x, inputs["Transition"], label) for x, label in pieces(inputs)]
    return {"LogLikelihood": np.array(losses, "float64").reshape(-1, 1)}


def sequences(*lengths, tags=3):
    lod = [np.cumsum([0, *lengths]).tolist()]
    n = sum(lengths)
    return {
        "Emission": pm.LoDTensor(array(n, tags), lod),
        "Transition": array(tags + 2, tags),
        "Label": pm.LoDTensor(ints(n, 1, high=tags), lod),
    }


def padded(*lengths, width=4, tags=3, label=(), dtype="int64"):
    n = len(lengths)
    return {
        "Emission": array(n, width, tags),
        "Transition": array(tags + 2, tags),
        "Label": ints(n, width, *label, high=tags, dtype=dtype),
        "Length": np.array(lengths, dtype).reshape(n, *label),
    }


test_linear_chain_crf = op_tests(
    "linear_chain_crf",
    reference,
    cases={
        "sequences": (sequences(3, 1, 4), {}),
        "an empty one": (sequences(2, 0, 3), {}),
        "one element": (sequences(1, tags=1), {}),
        "no rows": (sequences(0), {}),
        "no sequences": (sequences(), {}),
        "padded": (padded(4, 2, 0, 3), {}),
        "padded columns": (padded(4, 2, label=(1,), dtype="int32"), {}),
        "nothing padded": (padded(width=0), {}),
    },
    gradients=["Emission", "Transition"],
    gradient_of=["LogLikelihood"],
    unchecked=["Alpha", "EmissionExps", "TransitionExps"],
    refusals={
        "no lod": ({**sequences(2), "Emission": array(2, 3)}, {}, pm.ShapeError, "Emission no sequences (lod)"),
        "label out of range": ({**sequences(2), "Label": np.array([[0], [3]])}, {}, pm.OpError, "label 3 out of range"),
        "negative label": ({**padded(2), "Label": np.full((1, 4), -1)}, {}, pm.OpError, "label -1"),
        "length too long": (padded(5), {}, pm.OpError, "Length 0 is 5"),
        "negative length": (padded(-1), {}, pm.OpError, "Length -1"),
        "transition of other tags": ({**sequences(2), "Transition": array(4, 3)}, {}, pm.ShapeError, "Transition [4, 3]"),
        "too few labels": ({**sequences(2), "Label": ints(1, 1)}, {}, pm.ShapeError, "Label [1, 1]"),
        "no tags": ({**sequences(2), "Emission": pm.LoDTensor(array(2, 0), [[0, 2]])}, {}, pm.ShapeError, "at least one tag"),
        "flat emission": ({**sequences(2), "Emission": pm.LoDTensor(array(2), [[0, 2]])}, {}, pm.ShapeError, "dimensions"),
    },
    tolerance={"float32": 1e-5},  # sums of exponentials of a whole sequence
)


def test_intermediate_outputs():
    inputs = {
        key: value
        if key == "Label"
        else pm.LoDTensor(value.array.astype("float32"), value.lod)
        if key == "Emission"
        else value.astype("float32")
        for key, value in sequences(3, 2).items()
    }
    found = run_op("linear_chain_crf", inputs)
    x = inputs["Emission"].array
    np.testing.assert_allclose(found["EmissionExps"].array, np.exp(x - x.max(axis=1, keepdims=True)), rtol=1e-6)
    np.testing.assert_allclose(found["TransitionExps"], np.exp(inputs["Transition"]), rtol=1e-6)
    np.testing.assert_allclose(found["Alpha"].array.sum(axis=1), np.ones(5), rtol=1e-6)
    assert found["Alpha"].lod == [[0, 3, 5]]


@pytest.mark.parametrize("size", [100.0, -100.0, 1e4])
def test_long_sequences_with_large_scores_do_not_overflow(size):
    x = (array(2000, 5) + 1).astype("float32") * np.float32(size)
    inputs = {
        "Emission": pm.LoDTensor(x, [[0, 2000]]),
        "Transition": array(7, 5).astype("float32"),
        "Label": pm.LoDTensor(x.argmax(axis=1).reshape(-1, 1), [[0, 2000]]),
    }
    value = run_op("linear_chain_crf", inputs)["LogLikelihood"]
    assert np.isfinite(value).all() and value > 0
