"""meshgrid: lists broadcast over the grid that they form."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": list(np.meshgrid(*inputs["X"], indexing="ij"))}


test_meshgrid = op_tests(
    "meshgrid",
    reference,
    cases={
        "two": ({"X": [array(3), array(4)]}, {}),
        "three": ({"X": [array(3), array(1), array(4)]}, {}),
        "one": ({"X": [array(5)]}, {}),
        "a number": ({"X": [array(3), array()]}, {}),
        "one element": ({"X": [array(1), array(1, seed=2)]}, {}),
        "no elements": ({"X": [array(3), array(0)]}, {}),
    },
    gradients=["X"],
    values_only={"integers": ({"X": [ints(3), ints(2)]}, {})},
    refusals={
        "a matrix": ({"X": [array(3), array(2, 2)]}, {}, pm.ShapeError, "X[1] [2, 2]"),
        "other type": ({"X": [array(3), ints(3)]}, {}, pm.ShapeError, "X[1] int64"),
        "too many Out": ({"X": [array(3), array(4)]}, {}, pm.ProgramError, "1 Out 2 X"),
    },
)
