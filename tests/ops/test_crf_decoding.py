"""crf_decoding: the best of all paths; with Label, the positions where it is right."""

import itertools

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def best_path(x, w):
    def score(path):
        inner = sum(w[2 + a, b] for a, b in itertools.pairwise(path))
        return w[0, path[0]] + w[1, path[-1]] + inner + sum(x[k, tag] for k, tag in enumerate(path))

    return max(itertools.product(range(x.shape[1]), repeat=len(x)), key=score) if len(x) else ()


def reference(inputs, attrs):
    x, w = inputs["Emission"], inputs["Transition"]
    if "Length" in inputs:
        lengths, out = np.asarray(inputs["Length"]).reshape(-1), np.zeros(x.shape[:2], "int64")
        for i, n in enumerate(lengths):
            out[i, :n] = best_path(x[i, :n], w)
        if "Label" in inputs:
            inside = np.arange(x.shape[1]) < lengths[:, None]
            out = ((np.asarray(inputs["Label"]).reshape(out.shape) == out) & inside).astype("int64")
        return {"ViterbiPath": out}
    offsets = x.lod[-1]
    path = [tag for a, b in itertools.pairwise(offsets) for tag in best_path(x.array[a:b], w)]
    out = np.array(path, "int64").reshape(-1, 1)
    if "Label" in inputs:
        out = (inputs["Label"].array.reshape(-1, 1) == out).astype("int64")
    return {"ViterbiPath": pm.LoDTensor(out, x.lod)}


def sequences(*lengths, tags=3, label=False):
    lod, n = [np.cumsum([0, *lengths]).tolist()], sum(lengths)
    inputs = {"Emission": pm.LoDTensor(array(n, tags), lod), "Transition": array(tags + 2, tags)}
    return {**inputs, "Label": pm.LoDTensor(ints(n, 1, high=tags), lod)} if label else inputs


def padded(*lengths, width=4, tags=3, label=False):
    inputs = {
        "Emission": array(len(lengths), width, tags),
        "Transition": array(tags + 2, tags),
        "Length": np.array(lengths, "int64"),
    }
    return {**inputs, "Label": ints(len(lengths), width, high=tags)} if label else inputs


test_crf_decoding = op_tests(
    "crf_decoding",
    reference,
    cases={
        "sequences": (sequences(3, 1, 4), {}),
        "an empty one": (sequences(2, 0, 3), {}),
        "with labels": (sequences(3, 1, 4, label=True), {}),
        "one element": (sequences(1, tags=1), {}),
        "no rows": (sequences(0), {}),
        "padded": (padded(4, 2, 0, 3), {}),
        "padded with labels": (padded(4, 2, 1, label=True), {}),
        "nothing padded": (padded(width=0), {}),
    },
    refusals={
        "no lod": ({**sequences(2), "Emission": array(2, 3)}, {}, pm.ShapeError, "Emission no sequences (lod)"),
        "length too long": (padded(5), {}, pm.OpError, "Length 0 is 5"),
        "one length too many": ({**padded(2), "Length": np.array([2, 2])}, {}, pm.ShapeError, "Length [2]"),
        "transition of other tags": ({**sequences(2), "Transition": array(5, 4)}, {}, pm.ShapeError, "Transition [5, 4]"),
    },
)


def test_of_equal_paths_the_first():
    x = pm.LoDTensor(np.zeros((3, 4), "float32"), [[0, 3]])
    found = run_op("crf_decoding", {"Emission": x, "Transition": np.zeros((6, 4), "float32")})["ViterbiPath"]
    np.testing.assert_array_equal(found.array, np.zeros((3, 1)))


def test_not_a_number_is_no_crash():
    x = pm.LoDTensor(np.full((3, 4), np.nan, "float32"), [[0, 3]])
    found = run_op("crf_decoding", {"Emission": x, "Transition": np.zeros((6, 4), "float32")})["ViterbiPath"]
    assert found.array.shape == (3, 1)
