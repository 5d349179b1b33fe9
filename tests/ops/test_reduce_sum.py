"""reduce_sum: Out = the sum of X over some axes."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    axes = tuple(attrs["dim"]) if attrs["dim"] and not attrs["reduce_all"] and x.ndim else None
    out = np.asarray(np.sum(x, axis=axes, keepdims=attrs["keep_dim"]))
    return {"Out": out.astype("float64") if attrs["out_dtype"] == 6 else out}


test_reduce_sum = op_tests(
    "reduce_sum",
    reference,
    cases={
        "first axis": ({"X": array(3, 4)}, {}),
        "last axis": ({"X": array(3, 1003)}, {"dim": [-1]}),
        "middle axis": ({"X": array(3, 4, 5)}, {"dim": [1]}),
        "two axes": ({"X": array(3, 4, 5)}, {"dim": [0, 2]}),
        "neighbouring axes": ({"X": array(2, 3, 4, 5)}, {"dim": [1, 2]}),
        "axes kept": ({"X": array(3, 4, 5)}, {"dim": [0, -1], "keep_dim": True}),
        "every axis": ({"X": array(3, 4)}, {"dim": [1, 0]}),
        "reduce_all": ({"X": array(3, 4)}, {"dim": [1], "reduce_all": True}),
        "reduce_all kept": ({"X": array(3, 4)}, {"reduce_all": True, "keep_dim": True}),
        "no axes named": ({"X": array(3, 4)}, {"dim": []}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {"dim": [1]}),
    },
    gradients=["X"],
    refusals={
        "no such axis": ({"X": array(3, 4)}, {"dim": [2]}, pm.ShapeError, "dim 2"),
        "no such type": ({"X": array(3, 4)}, {"out_dtype": 77}, pm.ProgramError, "out_dtype 77"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
)

test_types = op_tests("reduce_sum", reference, cases={"as float64": ({"X": array(3, 4)}, {"out_dtype": 6})})


def test_out_dtype():
    """Converted before it is reduced, and the gradient back again."""
    x = array(3, 4).astype("float32")
    out = run_op("reduce_sum", {"X": x}, {"out_dtype": 6})["Out"]
    assert out.dtype == "float64"
    np.testing.assert_allclose(out, np.sum(x.astype("float64"), axis=0), rtol=1e-15)
    back = run_op("reduce_sum_grad", {"X": x, "Out@GRAD": np.arange(4.0)}, {"out_dtype": 6})["X@GRAD"]
    assert back.dtype == "float32"
    np.testing.assert_allclose(back, np.tile(np.arange(4.0), (3, 1)), rtol=1e-6)


def test_of_nothing():
    np.testing.assert_array_equal(run_op("reduce_sum", {"X": array(0, 4)})["Out"], np.zeros(4))


def test_whole_numbers():
    """int32 and bool are added as int64."""
    x = np.full((3, 2), 2_000_000_000, "int32")
    np.testing.assert_array_equal(run_op("reduce_sum", {"X": x})["Out"], np.int64([6_000_000_000] * 2))
    assert run_op("reduce_sum", {"X": ints(5) < 5}, {"reduce_all": True})["Out"] == (ints(5) < 5).sum()
    assert run_op("reduce_sum", {"X": ints(5)})["Out"] == ints(5).sum()
    assert run_op("reduce_sum", {"X": x}, {"out_dtype": 2})["Out"].dtype == "int32"
