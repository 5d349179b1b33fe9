"""gather_nd: the slabs of X at given coordinates; a program must state the number of coordinates."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op
from paddle_mini import _core

CASES = {
    "rows": (array(5, 4), np.array([[3], [0], [3]])),
    "elements": (array(5, 4), np.array([[3, 1], [0, 0]])),
    "matrix of rows": (array(3, 2, 4), np.array([[[2, 1], [0, 0]], [[2, 1], [1, 1]]], "int32")),
    "from the end": (array(3, 4), np.array([[-1, -4], [-3, 2]])),
    "one place": (array(3, 4), np.array([1, 2])),
    "all of X": (array(3), np.zeros((2, 0), "int64")),
    "one element": (array(1), np.array([[0]])),
    "no places": (array(3, 4), np.zeros((0, 1), "int64")),
    "no columns": (array(3, 0), np.array([[1]])),
}


def places(index):
    return tuple(np.moveaxis(index, -1, 0))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_gather_nd(name, dtype):
    x, index = CASES[name]
    x = (10 * x).astype(dtype)
    expected = x[places(index)] if index.shape[-1] else np.broadcast_to(x, index.shape[:-1] + x.shape)
    found = run_op("gather_nd", {"X": x, "Index": index}, {})["Out"]
    assert found.dtype == x.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", CASES)
def test_gradient(name):
    x, index = CASES[name]
    out = run_op("gather_nd", {"X": x, "Index": index}, {})["Out"]
    flow = array(*out.shape, seed=3)
    expected = np.zeros_like(x)
    if index.shape[-1]:
        np.add.at(expected, places(index), flow)
    else:
        expected = flow.sum(axis=tuple(range(index.ndim - 1)))
    found = run_op("gather_nd_grad", {"X": x, "Index": index, "Out@GRAD": flow}, {}, outputs=["X@GRAD"])["X@GRAD"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


test_refusals = op_tests(
    "gather_nd",
    lambda inputs, attrs: {},
    cases={},
    refusals={
        "too high": ({"X": array(3, 4), "Index": np.array([[0, 4]])}, {}, pm.OpError, "4 axis 1"),
        "too low": ({"X": array(3, 4), "Index": np.array([[-4]])}, {}, pm.OpError, "-4 axis 0"),
        "from nothing": ({"X": array(0, 4), "Index": np.array([[0]])}, {}, pm.OpError, "0"),
        "too many coordinates": ({"X": array(3), "Index": np.array([[0, 0]])}, {}, pm.ShapeError, "2 coordinates"),
        "a number": ({"X": array(3), "Index": np.array(0)}, {}, pm.ShapeError, "Index dimensions"),
        "float positions": ({"X": array(3), "Index": array(2, 1)}, {}, pm.ShapeError, "Index float64"),
    },
)


def test_the_gradient_of_a_program():
    program = pm.Program()
    block = program.global_block()
    block.create_var("x", dtype="float32", shape=[-1, 4])
    block.create_var("index", dtype="int64", shape=[-1, 2])
    block.append_op("gather_nd", {"X": "x", "Index": "index"}, {"Out": "out"})
    assert tuple(block.var("out").shape) == (-1,)
    (backward,) = _core.gradient(block.ops[-1].describe())
    assert backward["type"] == "gather_nd_grad" and backward["outputs"] == [("X@GRAD", ["x@GRAD"])]


def test_the_number_of_coordinates_must_be_known():
    block = pm.Program().global_block()
    block.create_var("x", dtype="float32", shape=[5, 4])
    block.create_var("index", dtype="int64", shape=[3, -1])
    with pytest.raises(pm.ShapeError, match="number of coordinates"):
        block.append_op("gather_nd", {"X": "x", "Index": "index"}, {"Out": "out"})
