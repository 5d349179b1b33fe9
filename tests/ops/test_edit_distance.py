"""edit_distance: Levenshtein's distance of each pair of sequences."""

import numpy as np

import paddle_mini as pm
from harness import ints, op_tests


def distance(a, b):
    if not len(a) or not len(b):
        return len(a) + len(b)
    return min(distance(a[1:], b) + 1, distance(a, b[1:]) + 1, distance(a[1:], b[1:]) + (a[0] != b[0]))


def parts(value, lengths):
    if lengths is not None:
        return [row.reshape(-1)[:n] for row, n in zip(value, np.asarray(lengths).reshape(-1))]
    return [value.array.reshape(-1)[a:b] for a, b in zip(value.lod[-1], value.lod[-1][1:])]


def reference(inputs, attrs):
    pairs = list(zip(parts(inputs["Hyps"], inputs.get("HypsLength")), parts(inputs["Refs"], inputs.get("RefsLength"))))
    out = [distance(a.tolist(), b.tolist()) / (len(b) if attrs["normalized"] else 1) for a, b in pairs]
    return {"Out": np.array(out, "float32").reshape(-1, 1), "SequenceNum": np.array([len(pairs)], "int64")}


def tokens(*lengths, seed=0, dtype="int64"):
    return pm.LoDTensor(ints(sum(lengths), 1, high=3, seed=seed, dtype=dtype), [np.cumsum([0, *lengths]).tolist()])


def padded(hyps, refs, width=5):
    return {
        "Hyps": ints(len(hyps), width, high=3),
        "Refs": ints(len(refs), width + 1, high=3, seed=1),
        "HypsLength": np.array(hyps, "int64"),
        "RefsLength": np.array(refs, "int64").reshape(-1, 1),
    }


test_edit_distance = op_tests(
    "edit_distance",
    reference,
    cases={
        "sequences": ({"Hyps": tokens(5, 2, 4), "Refs": tokens(3, 5, 4, seed=1)}, {}),
        "normalized": ({"Hyps": tokens(5, 0, 4), "Refs": tokens(3, 5, 4, seed=1)}, {"normalized": True}),
        "empty ones": ({"Hyps": tokens(0, 2, 0), "Refs": tokens(3, 0, 0)}, {}),
        "int32": ({"Hyps": tokens(4, dtype="int32"), "Refs": tokens(5, dtype="int32")}, {}),
        "padded": (padded([5, 2, 0], [3, 6, 2]), {}),
        "padded and normalized": (padded([5, 2, 0], [3, 6, 2]), {"normalized": True}),
        "one element": ({"Hyps": tokens(1), "Refs": tokens(1, seed=1)}, {}),
        "no sequences": ({"Hyps": tokens(), "Refs": tokens()}, {}),
        "nothing padded": (padded([], []), {}),
        "no width": (padded([0], [1], width=0), {}),
    },
    refusals={
        "empty reference": ({"Hyps": tokens(2, 2), "Refs": tokens(2, 0)}, {"normalized": True}, pm.OpError, "reference 1 empty"),
        "no lod": ({"Hyps": ints(2, 1), "Refs": tokens(2)}, {}, pm.ShapeError, "Hyps no sequences (lod)"),
        "no lod of references": ({"Hyps": tokens(2), "Refs": ints(2, 1)}, {}, pm.ShapeError, "Refs no sequences (lod)"),
        "other number": ({"Hyps": tokens(2, 1), "Refs": tokens(2)}, {}, pm.ShapeError, "Hyps 2 Refs 1"),
        "one length missing": (
            {k: v for k, v in padded([2], [2]).items() if k != "RefsLength"},
            {},
            pm.ProgramError,
            "RefsLength",
        ),
        "length too long": (padded([6], [2]), {}, pm.OpError, "HypsLength 0 is 6"),
        "wide tokens": ({"Hyps": pm.LoDTensor(ints(2, 2), [[0, 2]]), "Refs": tokens(2)}, {}, pm.ShapeError, "Hyps [2, 2]"),
    },
)
