"""shrink_rnn_memory: the rows of sequences that have a step I."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array
from rank_programs import RankProgram


def program_of(memory, step, lod=(0, 2, 5, 6)):
    program = RankProgram(pm.LoDTensor(array(lod[-1], 1).astype("float32"), [list(lod)]))
    program.data("i", np.array([step], "int64"))
    program.op("shrink_rnn_memory", {"X": program.data("memory", memory), "RankTable": "table", "I": "i"}, "out")
    return program


MEMORY = array(3, 4).astype("float32")


@pytest.mark.parametrize("step, rows", [(0, 3), (1, 2), (2, 1), (3, 0), (2**60, 0), (-1, 3)])
def test_rows(step, rows):
    (found,) = program_of(MEMORY, step).run("out")
    np.testing.assert_array_equal(found, MEMORY[:rows])


def test_sequences():
    memory = pm.LoDTensor(array(6, 2).astype("float32"), [[0, 3, 4, 6]])
    (found,) = program_of(memory, 1).run("out")
    assert found.lod == [[0, 3, 4]]
    np.testing.assert_array_equal(found.array, memory.array[:4])


def test_no_sequences_and_one_element():
    assert program_of(MEMORY[:0], 0, lod=[0]).run("out")[0].shape == (0, 4)
    np.testing.assert_array_equal(program_of(MEMORY[:1, :1], 0, lod=[0, 1]).run("out")[0], MEMORY[:1, :1])


@pytest.mark.parametrize("rows", [3, 1, 0])
def test_gradient_is_zero_for_rows_left_out(rows):
    program = program_of(MEMORY, 3 - rows)
    given = array(rows, 4, seed=1).astype("float32")
    program.data("out@GRAD", given)
    program.gradient({})
    (found,) = program.run("memory@GRAD")
    np.testing.assert_array_equal(found, np.concatenate([given, np.zeros((3 - rows, 4), "float32")]))


def test_refused():
    with pytest.raises(pm.ShapeError, match="X has 2 entries"):
        program_of(MEMORY[:2], 0).run("out")
    program = program_of(MEMORY, 0)
    program.data("out@GRAD", array(4, 4).astype("float32"))
    program.gradient({})
    with pytest.raises(pm.ShapeError, match="Out@GRAD is"):
        program.run("memory@GRAD")
