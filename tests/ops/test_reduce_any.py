"""reduce_any: any of X over some axes."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    axes = tuple(attrs["dim"]) if attrs["dim"] and not attrs["reduce_all"] and x.ndim else None
    return {"Out": np.asarray(np.any(x, axis=axes, keepdims=attrs["keep_dim"]))}


test_reduce_any = op_tests(
    "reduce_any",
    reference,
    cases={
        "first axis": ({"X": ints(3, 4, high=2) > 0}, {}),
        "last axis": ({"X": ints(3, 5, high=2) > 0}, {"dim": [-1]}),
        "middle axis": ({"X": ints(3, 4, 5, high=2) > 0}, {"dim": [1]}),
        "two axes": ({"X": ints(3, 2, 4, high=2) > 0}, {"dim": [0, 2]}),
        "kept": ({"X": ints(3, 2, 4, high=2) > 0}, {"dim": [0, -1], "keep_dim": True}),
        "reduce_all": ({"X": ints(3, 4, high=2) > 0}, {"reduce_all": True}),
        "no axes named": ({"X": ints(3, 4, high=2) > 0}, {"dim": []}),
        "whole numbers": ({"X": ints(3, 4, high=3)}, {}),
        "one element": ({"X": ints(high=2) > 0}, {}),
        "no rows": ({"X": ints(0, 4, high=2) > 0}, {"dim": [1]}),
    },
    refusals={
        "no such axis": ({"X": ints(3, 4, high=2) > 0}, {"dim": [2]}, pm.ShapeError, "dim 2"),
        "another axis of a number": ({"X": ints(high=2) > 0}, {"dim": [2**32]}, pm.ShapeError, "dim"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
)


def test_of_nothing():
    found = run_op("reduce_any", {"X": np.zeros((0, 4), bool)})["Out"]
    np.testing.assert_array_equal(found, [False] * 4)


def test_numbers_are_true_unless_zero():
    np.testing.assert_array_equal(run_op("reduce_any", {"X": np.float32([[0, 2], [0, np.nan]])})["Out"], [False, True])
