"""ctc_align: tokens without repeats and blanks; with lod, their number depends on data."""

import itertools

import numpy as np

import paddle_mini as pm
from harness import ints, op_tests, run_op


def align(tokens, attrs):
    kept = [t for i, t in enumerate(tokens) if not (attrs["merge_repeated"] and i and t == tokens[i - 1])]
    return [t for t in kept if t != attrs["blank"]]


def reference(inputs, attrs):
    x = inputs["Input"]
    if "InputLength" in inputs:
        out = np.full(x.shape, attrs["padding_value"], x.dtype)
        lengths = np.asarray(inputs["InputLength"])
        rows = [align(row[:n].tolist(), attrs) for row, n in zip(x, lengths.reshape(-1))]
        for i, row in enumerate(rows):
            out[i, : len(row)] = row
        return {"Output": out, "OutputLength": np.array([len(row) for row in rows], lengths.dtype).reshape(-1, 1)}
    offsets = x.lod[-1]
    rows = [align(x.array.reshape(-1)[a:b].tolist(), attrs) for a, b in itertools.pairwise(offsets)]
    return {
        "Output": pm.LoDTensor(np.array(sum(rows, []), x.array.dtype).reshape(-1, 1), [np.cumsum([0, *map(len, rows)]).tolist()])
    }


def tokens(*lengths, dtype="int64"):
    return {"Input": pm.LoDTensor(ints(sum(lengths), 1, high=3, dtype=dtype), [np.cumsum([0, *lengths]).tolist()])}


def padded(*lengths, width=8, dtype="int64"):
    return {"Input": ints(len(lengths), width, high=3, dtype=dtype), "InputLength": np.array(lengths, dtype).reshape(-1, 1)}


test_ctc_align = op_tests(
    "ctc_align",
    reference,
    cases={
        "sequences": (tokens(9, 0, 4, 12), {}),
        "another blank": (tokens(9, 4), {"blank": 2}),
        "repeats stay": (tokens(9, 4), {"merge_repeated": False}),
        "int32": (tokens(9, 4, dtype="int32"), {}),
        "one element": ({"Input": pm.LoDTensor(np.array([[5]]), [[0, 1]])}, {}),
        "padded": (padded(8, 5, 0), {}),
        "filled up": (padded(8, 5, 0, dtype="int32"), {"padding_value": -7, "blank": 1}),
        "padded, repeats stay": (padded(8, 5), {"merge_repeated": False}),
        "nothing padded": (padded(width=0), {}),
    },
    refusals={
        "no lod": ({"Input": ints(3, 1)}, {}, pm.ShapeError, "Input no sequences (lod)"),
        "wide tokens": ({"Input": pm.LoDTensor(ints(2, 2), [[0, 2]])}, {}, pm.ShapeError, "Input [2, 2]"),
        "length too long": (padded(9), {}, pm.OpError, "InputLength 0 is 9"),
        "floats": ({"Input": pm.LoDTensor(np.ones((2, 1)), [[0, 2]])}, {}, pm.ShapeError, "Input float64"),
    },
)


def test_when_nothing_stays_one_row_of_minus_one():
    for array, lod in [(np.zeros((3, 1), "int64"), [[0, 2, 3]]), (np.zeros((0, 1), "int64"), [[0, 0]])]:
        found = run_op("ctc_align", {"Input": pm.LoDTensor(array, lod)})["Output"]
        np.testing.assert_array_equal(getattr(found, "array", found), [[-1]])
