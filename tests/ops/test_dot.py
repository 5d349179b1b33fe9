"""dot: Out = sum of X Y along the last axis."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.asarray((inputs["X"] * inputs["Y"]).sum(axis=-1))}


def pair(*shape):
    return {"X": array(*shape), "Y": array(*shape, seed=1)}


test_dot = op_tests(
    "dot",
    reference,
    cases={
        "vectors": (pair(9), {}),
        "rows": (pair(4, 37), {}),
        "one element": (pair(1), {}),
        "no rows": (pair(0, 4), {}),
        "rows of nothing": (pair(3, 0), {}),
        "nothing": (pair(0), {}),
    },
    gradients=["X", "Y"],
    values_only={"int64": ({"X": ints(3, 4), "Y": ints(3, 4, seed=1)}, {})},
    refusals={
        "other shape": ({"X": array(3), "Y": array(4)}, {}, pm.ShapeError, "X [3] Y [4]"),
        "three axes": (pair(2, 3, 4), {}, pm.ShapeError, "X [2, 3, 4] 1 2"),
        "number": (pair(), {}, pm.ShapeError, "X []"),
    },
)
