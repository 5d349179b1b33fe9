"""reduce_amin: min of X over some axes."""
import numpy as np
import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    axes = tuple(attrs["dim"]) if attrs["dim"] and not attrs["reduce_all"] and x.ndim else None
    return {"Out": np.asarray(np.min(x, axis=axes, keepdims=attrs["keep_dim"]))}


test_reduce_amin = op_tests(
    "reduce_amin",
    reference,
    cases={
        "first axis": ({"X": array(3, 4)}, {}),
        "last axis": ({"X": array(3, 5)}, {"dim": [-1]}),
        "middle axis": ({"X": array(3, 4, 5)}, {"dim": [1]}),
        "two axes": ({"X": array(3, 2, 4)}, {"dim": [0, 2]}),
        "kept": ({"X": array(3, 2, 4)}, {"dim": [0, -1], "keep_dim": True}),
        "reduce_all": ({"X": array(3, 4)}, {"reduce_all": True}),
        "no axes named": ({"X": array(3, 4)}, {"dim": []}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {"dim": [1]}),
    },
    gradients=["X"],
    refusals={
        "no such axis": ({"X": array(3, 4)}, {"dim": [2]}, pm.ShapeError, "dim 2"),
        "other type": ({"X": array(3)}, {"out_dtype": 2}, pm.ProgramError, "out_dtype 2"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
)


def test_of_nothing():
    found = run_op("reduce_amin", {"X": array(0, 4)})["Out"]
    np.testing.assert_array_equal(found, [np.inf] * 4)


def test_nan():
    assert np.isnan(run_op("reduce_amin", {"X": np.array([1.0, np.nan, 3.0])})["Out"])


def test_equal_extremes_share_the_gradient():
    found = run_op("reduce_amin_grad", {"X": np.array([2.0, 2.0]), "Out": np.array(2.0), "Out@GRAD": np.array(3.0)})
    np.testing.assert_array_equal(found["X@GRAD"], [1.5, 1.5])

test_numbers = op_tests("reduce_amin", reference, cases={
    "whole numbers": ({"X": ints(3, 4, high=3)}, {}),
})
