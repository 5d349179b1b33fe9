"""unique: elements, or slices, each once; unique_consecutive: without repetitions. Their number depends on data."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op

EVERYTHING = {"return_index": True, "return_inverse": True, "return_counts": True}


def reference(inputs, attrs):
    axis = attrs["axis"][0] if attrs["axis"] else None
    out, first, inverse, counts = np.unique(inputs["X"], return_index=True, return_inverse=True, return_counts=True, axis=axis)
    inverse = inverse.reshape(-1)
    if not attrs["is_sorted"]:
        order = np.argsort(first)
        out, first, counts = out[order], first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    kind = {2: "int32", 3: "int64"}[attrs["dtype"]]
    return {"Out": out, "Indices": first.astype(kind), "Index": inverse.astype(kind), "Counts": counts.astype(kind)}


repeated = np.round(array(6, 3) * 1.5)

test_unique = op_tests(
    "unique",
    reference,
    cases={
        "as they occur": ({"X": np.array([3.0, 1, 3, 2, 1, 5])}, {}),
        "sorted": ({"X": repeated}, {"is_sorted": True, **EVERYTHING}),
        "rows": ({"X": np.array([[1.0, 2], [0, 5], [1, 2], [0, 4]])}, {"is_sorted": True, "axis": [0], **EVERYTHING}),
        "columns": ({"X": np.array([[1.0, 0, 1, 1], [2, 3, 2, 3]])}, {"is_sorted": True, "axis": [-1], **EVERYTHING}),
        "planes": ({"X": np.tile(np.round(array(2, 3, 2)), (1, 2, 1))}, {"is_sorted": True, "axis": [1]}),
        "one element": ({"X": array()}, {"is_sorted": True}),
        "one number": ({"X": array(1)}, {}),
        "nothing": ({"X": array(0)}, {}),
        "nothing sorted": ({"X": array(0, 3)}, {"is_sorted": True}),
    },
    refusals={
        "two axes": ({"X": array(2, 2)}, {"is_sorted": True, "axis": [0, 1]}, pm.ProgramError, "'axis'"),
        "axis out of range": ({"X": array(2, 2)}, {"is_sorted": True, "axis": [2]}, pm.Error, "axis"),
        "matrix as it occurs": ({"X": array(2, 2)}, {}, pm.ShapeError, "X 2 dimensions"),
        "positions in floats": ({"X": array(2)}, {"dtype": 5}, pm.ProgramError, "'dtype' float32"),
    },
    open_shapes=True,
)

test_sequences_go_away = op_tests(
    "unique",
    lambda inputs, attrs: reference({"X": inputs["X"].array}, attrs),
    cases={"as many as rows": ({"X": pm.LoDTensor(array(3), [[0, 1, 3]])}, {})},
    open_shapes=True,
)

test_whole_numbers = op_tests(
    "unique",
    reference,
    cases={
        "int64": ({"X": ints(20, high=6)}, {}),
        "int32 positions": ({"X": ints(20, high=6)}, {"dtype": 2}),
        "int32 positions of planes": ({"X": ints(2, 6, 2, high=2)}, {"is_sorted": True, "axis": [1], "dtype": 2}),
        "int32 sorted": ({"X": ints(4, 5, high=6, dtype="int32")}, {"is_sorted": True}),
    },
    open_shapes=True,
)


@pytest.mark.parametrize("is_sorted", [False, True])
def test_not_a_number_counts_once(is_sorted):
    x = np.array([np.nan, 1, np.nan, -np.inf, 1, np.nan], "float32")
    found = run_op("unique", {"X": x}, {"is_sorted": is_sorted}, ["Out", "Index", "Counts"])
    np.testing.assert_array_equal(found["Out"], [-np.inf, 1, np.nan] if is_sorted else [np.nan, 1, -np.inf])
    np.testing.assert_array_equal(found["Counts"], [1, 2, 3] if is_sorted else [3, 2, 1])
    np.testing.assert_array_equal(found["Out"][found["Index"]], x)


POSITIONS = {"return_inverse": True, "return_counts": True}


def without_repetitions(inputs, attrs):
    x = inputs["X"]
    items = np.moveaxis(x, attrs["axis"][0], 0) if attrs["axis"] else x.reshape(-1)
    new = np.array([i == 0 or not np.array_equal(items[i - 1], items[i]) for i in range(len(items))], bool)
    out = items[new]
    kind = {2: "int32", 3: "int64"}[attrs["dtype"]]
    inverse = np.cumsum(new) - 1
    return {
        "Out": np.moveaxis(out, 0, attrs["axis"][0]) if attrs["axis"] else out,
        "Index": inverse.astype(kind),
        "Counts": np.bincount(inverse, minlength=len(out)).astype(kind),
    }


ROWS = np.array([[1.0, 2], [1, 2], [1, 3], [1, 2], [1, 2]])

test_unique_consecutive = op_tests(
    "unique_consecutive",
    without_repetitions,
    cases={
        "vector": ({"X": np.array([3.0, 3, 1, 1, 1, 3, 2])}, {}),
        "matrix": ({"X": np.round(array(6, 3) * 0.7)}, POSITIONS),
        "rows": ({"X": ROWS}, {"axis": [0], **POSITIONS}),
        "columns": ({"X": ROWS.T}, {"axis": [-1], **POSITIONS}),
        "planes": ({"X": np.repeat(array(2, 3, 2), [2, 1, 2], axis=1)}, {"axis": [1]}),
        "one element": ({"X": array()}, {}),
        "one number": ({"X": array(1)}, {}),
        "nothing": ({"X": array(0, 3)}, {}),
        "no rows": ({"X": array(0, 3)}, {"axis": [0]}),
        "not a number": ({"X": np.array([np.nan, np.nan, 1, 1, np.inf, np.inf])}, POSITIONS),
        "zeros of both signs": ({"X": np.array([0.0, -0.0, 0.0])}, POSITIONS),
    },
    refusals={
        "two axes": ({"X": array(2, 2)}, {"axis": [0, 1]}, pm.ProgramError, "'axis'"),
        "axis out of range": ({"X": array(2, 2)}, {"axis": [2]}, pm.Error, "axis"),
        "positions in floats": ({"X": array(2)}, {"dtype": 5}, pm.ProgramError, "'dtype' float32"),
    },
    open_shapes=True,
)

test_consecutive_integers = op_tests(
    "unique_consecutive",
    without_repetitions,
    cases={
        "int64": ({"X": ints(20, high=2)}, {}),
        "int32 positions": ({"X": ints(20, high=2, dtype="int32")}, {"dtype": 2, **POSITIONS}),
    },
    open_shapes=True,
)

test_consecutive_sequences_go_away = op_tests(
    "unique_consecutive",
    lambda inputs, attrs: without_repetitions({"X": inputs["X"].array}, attrs),
    cases={"as many as rows": ({"X": pm.LoDTensor(array(3), [[0, 1, 3]])}, {})},
    open_shapes=True,
)
