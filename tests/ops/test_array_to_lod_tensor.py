"""array_to_lod_tensor: undoes lod_tensor_to_array."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array
from rank_programs import RankProgram


def there_and_back(lod, level=0, width=2):
    x = pm.LoDTensor(array(lod[-1][-1], width).astype("float32"), lod)
    program = RankProgram(x, level)
    program.op("lod_tensor_to_array", {"X": "x", "RankTable": "table"}, "steps", kind=13)
    program.op("array_to_lod_tensor", {"X": "steps", "RankTable": "table"}, "back")
    return x, program


@pytest.mark.parametrize(
    "lod, level",
    [
        ([[0, 2, 5, 6]], 0),
        ([[0, 2, 2, 5]], 0),
        ([[0, 1]], 0),
        ([[0, 1, 3], [0, 2, 3, 6]], 0),
        ([[0, 1, 3], [0, 2, 3, 6]], 1),
        ([[0, 2], [0, 1, 3], [0, 2, 2, 6]], 1),
    ],
)
@pytest.mark.parametrize("width", [2, 0])
def test_there_and_back(lod, level, width):
    x, program = there_and_back(lod, level, width)
    (found,) = program.run("back")
    assert found.lod == lod
    np.testing.assert_array_equal(found.array, x.array)


def test_gradient_is_taken_apart_again():
    x, program = there_and_back([[0, 2, 5, 6]])
    gradient = pm.LoDTensor(array(6, 2, seed=1).astype("float32"), x.lod)
    program.data("back@GRAD", gradient)
    program.gradient({"steps@GRAD": 13})
    (found,) = program.run("steps@GRAD")
    for step, rows in zip(found, [[2, 0, 5], [3, 1], [4]]):
        np.testing.assert_array_equal(getattr(step, "array", step), gradient.array[rows])


def test_refused():
    _, program = there_and_back([[0, 0]])
    with pytest.raises(pm.OpError, match="X has no elements"):
        program.run("back")
    _, program = there_and_back([[0, 2, 5]])
    program.data("other", pm.LoDTensor(array(4, 2).astype("float32"), [[0, 3, 4]]))
    program.block.create_var("other_table", kind=12)
    program.block.append_op("lod_rank_table", {"X": "other"}, {"Out": "other_table"}, {})
    program.op("array_to_lod_tensor", {"X": "steps", "RankTable": "other_table"}, "wrong")
    with pytest.raises(pm.ShapeError, match="element 1 of X has 2 entries"):
        program.run("wrong")
