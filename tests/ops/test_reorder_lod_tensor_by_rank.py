"""reorder_lod_tensor_by_rank: sequences, or rows, in the order of a rank table."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array
from rank_programs import RankProgram


def program_of(y, lod=(0, 2, 5, 6)):
    program = RankProgram(pm.LoDTensor(array(lod[-1], 1).astype("float32"), [list(lod)]))
    program.op("reorder_lod_tensor_by_rank", {"X": program.data("y", y), "RankTable": "table"}, "out")
    return program


def test_rows():
    y = array(3, 4).astype("float32")
    np.testing.assert_array_equal(program_of(y).run("out")[0], y[[1, 0, 2]])


@pytest.mark.parametrize(
    "lod, reordered, rows",
    [
        ([[0, 2, 5, 6]], [[0, 3, 5, 6]], [2, 3, 4, 0, 1, 5]),
        ([[0, 1, 1, 3]], [[0, 0, 1, 3]], [0, 1, 2]),
        ([[0, 1, 3, 4], [0, 2, 3, 5, 6]], [[0, 2, 3, 4], [0, 1, 3, 5, 6]], [2, 3, 4, 0, 1, 5]),
    ],
)
def test_sequences_and_their_gradient(lod, reordered, rows):
    y = pm.LoDTensor(array(lod[-1][-1], 2).astype("float32"), lod)
    program = program_of(y)
    gradient = array(lod[-1][-1], 2, seed=1).astype("float32")
    program.data("out@GRAD", pm.LoDTensor(gradient, reordered))
    program.gradient({})
    found, back = program.run("out", "y@GRAD")
    assert found.lod == reordered and back.lod == lod
    np.testing.assert_array_equal(found.array, y.array[rows])
    np.testing.assert_array_equal(back.array[rows], gradient)


def test_no_sequences_and_one_element():
    assert program_of(array(0, 4).astype("float32"), lod=[0]).run("out")[0].shape == (0, 4)
    one = array(1, 1).astype("float32")
    np.testing.assert_array_equal(program_of(one, lod=[0, 1]).run("out")[0], one)


def test_other_number_is_refused():
    with pytest.raises(pm.ShapeError, match="X has 2 entries, RankTable has 3"):
        program_of(array(2, 4).astype("float32")).run("out")
