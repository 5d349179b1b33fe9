"""warprnnt: -log of the sum over all alignments of a transducer, against an enumeration of them."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def loss(log_p, label, blank):
    """Each alignment reads all frames but the last in some order with the tokens, and ends with a blank."""
    frames, found = len(log_p), []
    for tokens_at in itertools.combinations(range(frames - 1 + len(label)), len(label)):
        t, u, total = 0, 0, log_p[-1, len(label), blank]
        for step in range(frames - 1 + len(label)):
            if step in tokens_at:
                total, u = total + log_p[t, u, label[u]], u + 1
            else:
                total, t = total + log_p[t, u, blank], t + 1
        found.append(total)
    return -np.logaddexp.reduce(found)


def reference(inputs, attrs):
    lengths = zip(inputs["input_lengths"], inputs["label_lengths"])
    rows = [
        loss(inputs["input"][i, :frames, : tokens + 1], inputs["label"][i, :tokens], attrs["blank"])
        for i, (frames, tokens) in enumerate(lengths)
    ]
    return {"loss": np.array(rows, "float64")}


def given(frames, tokens, longest=4, width=3, classes=4):
    return {
        "input": array(len(frames), longest, width, classes, low=-3, high=0),
        "label": ints(len(frames), width - 1, low=1, high=classes, dtype="int32"),
        "input_lengths": np.array(frames, "int32"),
        "label_lengths": np.array(tokens, "int32"),
    }


test_warprnnt = op_tests(
    "warprnnt",
    reference,
    cases={
        "sequences": (given([4, 3, 1], [2, 1, 2]), {}),
        "last is blank": ({**given([4, 2], [2, 0]), "label": np.array([[0, 1], [2, 2]], "int32")}, {"blank": 3}),
        "a token that is the blank": ({**given([3], [2]), "label": np.zeros((1, 2), "int32")}, {}),
        "one element": (given([1], [0], longest=1, width=1, classes=1), {}),
        "no sequences": (given([], []), {}),
    },
    gradients=["input"],
    gradient_of=["loss"],
    unchecked=["warprnntgrad"],
    refusals={
        "label out of range": ({**given([3], [2]), "label": np.array([[1, 4]], "int32")}, {}, pm.OpError, "label 4 sequence 0"),
        "too many frames": (given([5], [2]), {}, pm.OpError, "input_lengths 0 5"),
        "no frames": (given([0], [2]), {}, pm.OpError, "input_lengths 0 is 0"),
        "too many tokens": (given([4], [3]), {}, pm.OpError, "label_lengths 0 3"),
        "other width": ({**given([3], [2]), "label": ints(1, 3, dtype="int32")}, {}, pm.ShapeError, "label [1, 3] [1, 2]"),
        "other count": ({**given([3], [2]), "input_lengths": ints(2, dtype="int32")}, {}, pm.ShapeError, "input_lengths [2] 1"),
        "blank": (given([3], [2]), {"blank": 4}, pm.ProgramError, "'blank' 4"),
        "wide label": ({**given([3], [2]), "label": ints(1, 2)}, {}, pm.ShapeError, "label int64 int32"),
    },
)


def test_tokens_can_be_emphasized():
    """fastemit_lambda changes the gradient of writing tokens, not the loss."""
    inputs, attrs = given([4, 3], [2, 1]), {"fastemit_lambda": 0.5}
    inputs["label"] = np.array([[1, 2], [3, 1]], "int32")
    plain = run_op("warprnnt", inputs, {}, ["loss", "warprnntgrad"])
    found = run_op("warprnnt", inputs, attrs, ["loss", "warprnntgrad"])
    np.testing.assert_array_equal(found["loss"], plain["loss"])
    np.testing.assert_allclose(found["warprnntgrad"][..., 0], plain["warprnntgrad"][..., 0], rtol=1e-12)
    np.testing.assert_allclose(found["warprnntgrad"][..., 1:], 1.5 * plain["warprnntgrad"][..., 1:], rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_sequences_do_not_overflow(dtype):
    inputs = given([300], [80], longest=300, width=81, classes=5)
    inputs["input"] = (inputs["input"] * 30).astype(dtype)
    found = run_op("warprnnt", inputs, {}, ["loss", "warprnntgrad"])
    assert np.isfinite(found["loss"]).all() and found["loss"] > 0
    # All frames are read, and all tokens written, once.
    np.testing.assert_allclose(found["warprnntgrad"].sum(), -380, rtol=1e-4)
