"""chunk_eval: counts the chunks in each of two taggings and those in both, by scheme."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from harness import ints, op_tests

TAGS = {"IOB": "BI", "IOE": "IE", "IOBES": "BIES", "plain": "P"}


def chunks(labels, scheme, types):
    """Chunks by the definition of each scheme."""
    found, start, names = set(), None, TAGS[scheme]
    decoded = [(names[x % len(names)], x // len(names)) if x // len(names) < types else ("O", None) for x in labels]
    for i, (tag, kind) in enumerate(decoded):
        before = decoded[i - 1] if i else ("O", None)
        after = decoded[i + 1] if i + 1 < len(decoded) else ("O", None)
        if tag == "O":
            continue
        starts = kind != before[1] or tag in "BS" or before[0] in "ES"
        start = i if starts else start
        if kind != after[1] or tag in "ES" or after[0] in "BS":
            found.add((start, i, kind))
    return found


def reference(inputs, attrs):
    inference, label = inputs["Inference"], inputs["Label"]
    if "SeqLength" in inputs:
        parts = [
            (a.reshape(-1)[:n], b.reshape(-1)[:n])
            for a, b, n in zip(inference, label, np.asarray(inputs["SeqLength"]).reshape(-1))
        ]
    else:
        offsets = inference.lod[-1]
        parts = [(inference.array.reshape(-1)[a:b], label.array.reshape(-1)[a:b]) for a, b in itertools.pairwise(offsets)]
    inferred = labeled = correct = 0
    for a, b in parts:
        one, other = (
            {
                chunk
                for chunk in chunks(x.tolist(), attrs["chunk_scheme"], attrs["num_chunk_types"])
                if chunk[2] not in attrs["excluded_chunk_types"]
            }
            for x in (a, b)
        )
        inferred, labeled, correct = inferred + len(one), labeled + len(other), correct + len(one & other)
    precision, recall = correct / inferred if inferred else 0.0, correct / labeled if labeled else 0.0
    f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
    numbers = {"NumInferChunks": inferred, "NumLabelChunks": labeled, "NumCorrectChunks": correct}
    rates = {"Precision": precision, "Recall": recall, "F1-Score": f1}
    return {
        **{port: np.array([n], "int64") for port, n in numbers.items()},
        **{port: np.array([x], "float32") for port, x in rates.items()},
    }


def sequences(*lengths, high, dtype="int64"):
    lod, n = [np.cumsum([0, *lengths]).tolist()], sum(lengths)
    inference, label = ints(n, 1, high=high, dtype=dtype), ints(n, 1, high=high, dtype=dtype, seed=1)
    label[: n // 2] = inference[: n // 2]
    return {"Inference": pm.LoDTensor(inference, lod), "Label": pm.LoDTensor(label, lod)}


def padded(*lengths, width=5, high=7, last=()):
    return {
        "Inference": ints(len(lengths), width, *last, high=high),
        "Label": ints(len(lengths), width, *last, high=high, seed=1),
        "SeqLength": np.array(lengths, "int64").reshape(-1, 1),
    }


test_schemes = op_tests(
    "chunk_eval",
    reference,
    cases={
        **{
            scheme: (sequences(40, 7, 0, 60, high=3 * len(tags) + 1), {"num_chunk_types": 3, "chunk_scheme": scheme})
            for scheme, tags in TAGS.items()
        },
        "excluded": (sequences(40, 30, high=7), {"num_chunk_types": 3, "excluded_chunk_types": [1, 2]}),
        "int32": (sequences(40, high=7, dtype="int32"), {"num_chunk_types": 3}),
        "padded": (padded(5, 0, 3), {"num_chunk_types": 3}),
        "padded columns": (padded(5, 2, last=(1,)), {"num_chunk_types": 3}),
        "one element": (sequences(1, high=2), {"num_chunk_types": 1}),
        "no rows": (sequences(0, high=2), {"num_chunk_types": 1}),
        "no sequences": (padded(width=0), {"num_chunk_types": 3}),
        "no types": (sequences(3, high=1), {"num_chunk_types": 0}),
    },
    refusals={
        "no lod": (
            {"Inference": ints(3, 1), "Label": ints(3, 1)},
            {"num_chunk_types": 9},
            pm.ShapeError,
            "Inference no sequences (lod)",
        ),
        "other lod": (
            {"Inference": pm.LoDTensor(ints(3, 1), [[0, 3]]), "Label": pm.LoDTensor(ints(3, 1), [[0, 1, 3]])},
            {"num_chunk_types": 9},
            pm.ShapeError,
            "Label different sequences",
        ),
        "label too large": (sequences(9, high=9), {"num_chunk_types": 1}, pm.OpError, "must be from 0 to 2"),
        "length too long": (padded(6), {"num_chunk_types": 3}, pm.OpError, "SeqLength 0 is 6"),
        "unknown scheme": (padded(5), {"num_chunk_types": 3, "chunk_scheme": "IOX"}, pm.ProgramError, "'IOX'"),
        "negative types": (padded(5), {"num_chunk_types": -1}, pm.ProgramError, "num_chunk_types"),
        "other shape": ({**padded(5), "Label": ints(1, 4)}, {"num_chunk_types": 3}, pm.ShapeError, "Label [1, 4]"),
    },
)


@pytest.mark.parametrize(
    "scheme, labels, expected",
    [
        ("IOB", [0, 1, 6, 2, 3], [(0, 1, 0), (3, 4, 1)]),
        ("IOB", [1, 1, 0, 1], [(0, 1, 0), (2, 3, 0)]),
        ("plain", [0, 0, 1, 3, 1], [(0, 1, 0), (2, 2, 1), (4, 4, 1)]),
        ("IOBES", [3, 0, 1, 2], [(0, 0, 0), (1, 3, 0)]),
    ],
)
def test_the_reference_itself(scheme, labels, expected):
    assert chunks(labels, scheme, 3) == set(expected)
