"""lod_tensor_to_array: the steps of a batch of sequences."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array
from rank_programs import RankProgram


def numbers(lod, width=2):
    return pm.LoDTensor(array(lod[-1][-1], width).astype("float32"), lod)


def arrays(x, level=0):
    program = RankProgram(x, level)
    program.op("lod_tensor_to_array", {"X": "x", "RankTable": "table"}, "steps", kind=13)
    return program.run("steps")[0]


def test_steps():
    x = numbers([[0, 2, 5, 6]])
    found = arrays(x)
    assert len(found) == 3
    for step, rows in zip(found, [[2, 0, 5], [3, 1], [4]]):
        np.testing.assert_array_equal(getattr(step, "array", step), x.array[rows])


def test_steps_that_are_sequences():
    x = numbers([[0, 1, 3], [0, 2, 3, 6]])
    first, second = arrays(x)
    np.testing.assert_array_equal(getattr(first, "array", first), x.array[[2, 0, 1]])
    np.testing.assert_array_equal(getattr(second, "array", second), x.array[[3, 4, 5]])


@pytest.mark.parametrize("lod, count", [([0], 0), ([0, 0], 0), ([0, 1], 1)])
def test_few_rows(lod, count):
    assert len(arrays(numbers([lod]))) == count


@pytest.mark.parametrize("lod", [[[0, 2, 5, 6]], [[0, 1, 3], [0, 2, 3, 6]], [[0, 1]]])
def test_gradient_is_put_together_again(lod):
    """The gradient of step t is step t itself here, so that of x is x."""
    x = numbers(lod)
    program = RankProgram(x)
    program.op("lod_tensor_to_array", {"X": "x", "RankTable": "table"}, "steps", kind=13)
    first = program.last
    program.op("lod_tensor_to_array", {"X": "x", "RankTable": "table"}, "steps@GRAD", kind=13)
    program.last = first
    program.gradient({})
    (found,) = program.run("x@GRAD")
    assert found.lod == lod
    np.testing.assert_array_equal(found.array, x.array)


@pytest.mark.parametrize("other", [pm.LoDTensor(array(6, 2).astype("float32"), [[0, 3, 6]]), array(6, 2).astype("float32")])
def test_other_sequences_are_refused(other):
    program = RankProgram(numbers([[0, 2, 6]]))
    program.op("lod_tensor_to_array", {"X": program.data("other", other), "RankTable": "table"}, "steps", kind=13)
    with pytest.raises(pm.ShapeError, match="sequences"):
        program.run("steps")
