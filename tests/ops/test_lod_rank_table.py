"""lod_rank_table and the operators that read nothing else: the longest sequences first."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array
from rank_programs import RankProgram


def steps(lod, level=0):
    """The sequences of the rows of each step, which show the order of the table."""
    rows = lod[-1][-1]
    program = RankProgram(pm.LoDTensor(np.arange(rows, dtype="float32").reshape(-1, 1), lod), level)
    program.op("lod_tensor_to_array", {"X": "x", "RankTable": "table"}, "steps", kind=13)
    return [getattr(one, "array", one).reshape(-1).tolist() for one in program.run("steps")[0]]


def test_longest_first_and_equal_ones_as_they_lie():
    assert steps([[0, 2, 5, 5, 7]])[0] == [2, 0, 5]


def test_a_deeper_level():
    assert steps([[0, 1, 3], [0, 1, 3, 6]], level=1)[0] == [3, 1, 0]


def test_lengths_are_of_the_level():
    assert len(steps([[0, 1, 3], [0, 9, 10, 11]])) == 2


@pytest.mark.parametrize(
    "x, level, error, words",
    [
        (array(3, 1).astype("float32"), 0, pm.ShapeError, r"X has no sequences \(lod\)"),
        (pm.LoDTensor(array(3, 1).astype("float32"), [[0, 3]]), 1, pm.ShapeError, "'level' is 1"),
        (pm.LoDTensor(array(3, 1).astype("float32"), [[0, 3]]), -1, pm.ProgramError, "level"),
    ],
)
def test_refused(x, level, error, words):
    with pytest.raises(error, match=words):
        program = RankProgram(x, level)
        program.op("max_sequence_len", {"RankTable": "table"}, "longest", dtype="int64", rank=1)
        program.run("longest")
