"""viterbi_decode: the best of all paths of padded sequences, and its score."""

import itertools

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    lengths = inputs["Length"].reshape(-1)
    scores, paths = np.zeros(len(lengths)), np.zeros((len(lengths), lengths.max(initial=0)), "int64")
    for i, n in enumerate(lengths):
        scores[i], paths[i, :n] = best_path(inputs["Input"][i, :n], inputs["Transition"], attrs["include_bos_eos_tag"])
    return {"Scores": scores, "Path": paths}


def best_path(x, w, has_ends):
    def score(path):
        ends = w[-1, path[0]] + w[-2, path[-1]] if has_ends else 0
        return ends + sum(w[a, b] for a, b in itertools.pairwise(path)) + sum(x[k, tag] for k, tag in enumerate(path))

    best = max(itertools.product(range(x.shape[1]), repeat=len(x)), key=score)
    return score(best), best


def padded(*lengths, width=4, tags=3):
    return {"Input": array(len(lengths), width, tags), "Transition": array(tags, tags), "Length": np.array(lengths, "int64")}


test_viterbi_decode = op_tests(
    "viterbi_decode",
    reference,
    cases={
        "with tags of both ends": (padded(4, 1, 3), {}),
        "without": (padded(4, 1, 3), {"include_bos_eos_tag": False}),
        "equal scores": ({**padded(3, 3), "Input": np.zeros((2, 4, 3)), "Transition": np.ones((3, 3))}, {}),
        "narrower than padding": (padded(2, 1), {}),
        "lengths as a column": ({**padded(2, 3), "Length": np.array([[2], [3]], "int64")}, {}),
        "one element": (padded(1, width=1, tags=1), {"include_bos_eos_tag": False}),
        "no sequences": (padded(), {}),
    },
    open_shapes=True,
    refusals={
        "a length of 0": (padded(2, 0), {}, pm.OpError, "Length 1 is 0, it must be from 1 to 4"),
        "too long": (padded(5), {}, pm.OpError, "Length 0 is 5"),
        "one length too many": ({**padded(2), "Length": np.array([2, 2])}, {}, pm.ShapeError, "Length [2]"),
        "other tags": ({**padded(2), "Transition": array(4, 3)}, {}, pm.ShapeError, "Transition [4, 3] must be [3, 3]"),
        "no room for both ends": (padded(2, tags=1), {}, pm.ShapeError, "Input [1, 4, 1] at least 2 tags"),
    },
)
