"""sequence_concat: sequence i of Out is sequence i of each X, one after the other."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences, split


def reference(inputs, attrs):
    parts = [np.concatenate(group) for group in zip(*(split(x) for x in inputs["X"]))]
    rows = np.concatenate([inputs["X"][0].array[:0], *parts])
    return {"Out": lod_tensor(rows, [len(part) for part in parts])}


test_sequence_concat = op_tests(
    "sequence_concat",
    reference,
    cases={
        "two": ({"X": [sequences(2, 3), sequences(1, 4)]}, {}),
        "three": ({"X": [sequences(2, 3), sequences(0, 1), sequences(1, 1)]}, {}),
        "one": ({"X": [sequences(2, 3)]}, {}),
        "images": ({"X": [lod_tensor(array(3, 2, 2), [2, 1]), lod_tensor(array(2, 2, 2), [1, 1])]}, {}),
        "one element": ({"X": [lod_tensor(array(1), [1])]}, {}),
        "no rows": ({"X": [sequences(0, 0), sequences(0, 0)]}, {}),
        "no sequences": ({"X": [sequences(), sequences()]}, {}),
        "nothing in a row": ({"X": [sequences(2, width=0), sequences(1, width=0)]}, {}),
    },
    gradients=["X"],
    values_only={
        dtype: ({"X": [lod_tensor(ints(rows, 2, dtype=dtype), [rows - 1, 1]) for rows in (3, 2)]}, {})
        for dtype in ("int32", "int64")
    },
    refusals={
        "other count": ({"X": [sequences(2, 3), sequences(1)]}, {}, pm.ShapeError, "X[1] 1 sequences 2"),
        "other width": ({"X": [sequences(2), sequences(1, width=2)]}, {}, pm.ShapeError, "X[1] [1, 2]"),
        "other dtype": ({"X": [sequences(2), lod_tensor(ints(2, 3), [2])]}, {}, pm.ShapeError, "X[1] int64"),
        "no lod": ({"X": [sequences(2), array(2, 3)]}, {}, pm.ShapeError, "X no sequences (lod)"),
        "groups": ({"X": [lod_tensor(array(3, 2), [1, 1], [2, 1])]}, {}, pm.ShapeError, "X 2 levels"),
    },
)


def test_gradients_that_nobody_wants():
    program, scope = pm.Program(), pm.Scope()
    block = program.global_block()
    for name, value in {"a": sequences(1, 1), "b": sequences(2, 1), "g": sequences(3, 2)}.items():
        block.create_var(name, dtype="float64", shape=value.array.shape, persistable=True, lod_level=1)
        scope.set(name, value.array, value.lod)
    block.append_op("sequence_concat_grad", {"X": ["a", "b"], "Out@GRAD": "g"}, {"X@GRAD": ["@EMPTY@", "db"]})
    (found,) = pm.Executor(pm.CPUPlace()).run(program, fetch_list=["db"], scope=scope)
    np.testing.assert_array_equal(found, sequences(3, 2).array[[1, 2, 4]])


def test_refuses_more_gradients_than_inputs():
    with pytest.raises(pm.ProgramError, match="2 X@GRAD for 1 X"):
        run_op("sequence_concat_grad", {"X": [sequences(2)], "Out@GRAD": sequences(2)}, {}, {"X@GRAD": 2})
