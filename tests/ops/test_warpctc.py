"""warpctc: -log of the sum over all alignments, against an enumeration of all paths."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def loss(x, label, blank):
    label = [int(one) for one in label]
    if len(label) + sum(a == b for a, b in itertools.pairwise(label)) > len(x) or not len(x):
        return 0.0
    log_y = x - np.logaddexp.reduce(x, axis=1, keepdims=True)
    spelled = []
    for path in itertools.product(range(x.shape[1]), repeat=len(x)):
        merged = [k for t, k in enumerate(path) if not t or k != path[t - 1]]
        if [k for k in merged if k != blank] == label:
            spelled.append(sum(log_y[t, k] for t, k in enumerate(path)))
    return -np.logaddexp.reduce(spelled)


def reference(inputs, attrs):
    x, label = inputs["Logits"], inputs["Label"]
    if "LogitsLength" in inputs:
        lengths = zip(np.asarray(inputs["LogitsLength"]).reshape(-1), np.asarray(inputs["LabelLength"]).reshape(-1))
        pairs = [(x[:t, i], label[i, :n]) for i, (t, n) in enumerate(lengths)]
    else:
        cut = [[(a, b) for a, b in zip(value.lod[-1], value.lod[-1][1:])] for value in (x, label)]
        pairs = [(x.array[a:b], label.array.reshape(-1)[c:d]) for (a, b), (c, d) in zip(*cut)]
    return {"Loss": np.array([loss(a, b, attrs["blank"]) for a, b in pairs], "float64").reshape(-1, 1)}


def sequences(times, labels, classes=3, blank=0):
    label = (ints(sum(labels), 1, high=classes - 1) + blank + 1) % classes if classes > 1 else ints(0, 1)
    return {
        "Logits": pm.LoDTensor(array(sum(times), classes, low=-2, high=2), [np.cumsum([0, *times]).tolist()]),
        "Label": pm.LoDTensor(label, [np.cumsum([0, *labels]).tolist()]),
    }


def padded(times, labels, classes=3, longest=5, width=3, dtype="int64"):
    return {
        "Logits": array(longest, len(times), classes, low=-2, high=2),
        "Label": ints(len(times), width, low=1, high=classes, dtype=dtype),
        "LogitsLength": np.array(times, dtype),
        "LabelLength": np.array(labels, dtype),
    }


test_warpctc = op_tests(
    "warpctc",
    reference,
    cases={
        "sequences": (sequences([5, 3, 4], [2, 1, 3]), {}),
        "last is blank": (sequences([5, 3], [2, 1], blank=2), {"blank": 2}),
        "a repeat": ({"Logits": pm.LoDTensor(array(5, 3), [[0, 5]]), "Label": pm.LoDTensor(np.array([[1], [1]]), [[0, 2]])}, {}),
        "no label": (sequences([4, 2], [0, 1]), {}),
        "too long a label": (sequences([2, 3], [3, 1]), {}),
        "an empty sequence": (sequences([0, 3], [1, 1]), {}),
        "one element": (sequences([1], [0], classes=1), {}),
        "no sequences": (sequences([], []), {}),
        "padded": (padded([5, 3, 4], [2, 1, 3]), {}),
        "padded, int32": (padded([5, 2], [0, 1], dtype="int32"), {}),
        "nothing padded": (padded([], []), {}),
    },
    gradients=["Logits"],
    gradient_of=["Loss"],
    unchecked=["WarpCTCGrad"],
    refusals={
        "no lod": ({**sequences([2], [1]), "Logits": array(2, 3)}, {}, pm.ShapeError, "Logits no sequences (lod)"),
        "other number": (sequences([2, 2], [1]), {}, pm.ShapeError, "Label 1 Logits 2"),
        "label out of range": (
            {**sequences([2], [1]), "Label": pm.LoDTensor(np.array([[3]]), [[0, 1]])},
            {},
            pm.OpError,
            "label 3",
        ),
        "blank out of range": (sequences([2], [1]), {"blank": 3}, pm.ProgramError, "'blank' 3"),
        "negative blank": (sequences([2], [1]), {"blank": -1}, pm.ProgramError, "'blank' -1"),
        "length too long": (padded([6], [1]), {}, pm.OpError, "LogitsLength 0 is 6"),
        "label length too long": (padded([5], [4]), {}, pm.OpError, "LabelLength 0 is 4"),
        "one length missing": (
            {k: v for k, v in padded([5], [1]).items() if k != "LabelLength"},
            {},
            pm.ProgramError,
            "LabelLength",
        ),
    },
)


def long_case():
    inputs = sequences([3000], [700], classes=50)
    return {"Logits": pm.LoDTensor(inputs["Logits"].array.astype("float32") * 30, inputs["Logits"].lod), "Label": inputs["Label"]}


def test_long_sequences_do_not_overflow():
    found = run_op("warpctc", long_case())
    assert np.isfinite(found["Loss"]).all() and found["Loss"] > 0 and np.isfinite(found["WarpCTCGrad"]).all()
    np.testing.assert_allclose(found["WarpCTCGrad"].sum(axis=2), 0, atol=1e-4)


@pytest.mark.parametrize("norm_by_times", [False, True])
def test_norm_by_times_divides_the_gradient_alone(norm_by_times):
    inputs, attrs = padded([5, 2], [2, 1]), {"norm_by_times": norm_by_times}
    found = run_op("warpctc", inputs, attrs)
    np.testing.assert_allclose(found["Loss"], reference(inputs, {"blank": 0})["Loss"], rtol=1e-9)
    given = {
        "Logits": inputs["Logits"],
        "LogitsLength": inputs["LogitsLength"],
        "WarpCTCGrad": found["WarpCTCGrad"],
        "Loss@GRAD": np.array([[1.0], [3.0]]),
    }
    gradient = run_op("warpctc_grad", given, attrs)["Logits@GRAD"]
    scale = np.array([1.0, 3.0]) / (np.array([5, 2]) if norm_by_times else 1)
    np.testing.assert_allclose(gradient, found["WarpCTCGrad"] * scale[:, None], rtol=1e-9)
    assert not gradient[2:, 1].any()
