"""cross: Out = X x Y, the cross products of vectors of 3 along an axis."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    x, dim = inputs["X"], attrs["dim"]
    axis = x.shape.index(3) if dim == 9 else dim
    return {"Out": np.cross(x, inputs["Y"], axis=axis)}


def pair(*shape):
    return {"X": array(*shape), "Y": array(*shape, seed=1)}


test_cross = op_tests(
    "cross",
    reference,
    cases={
        "rows": (pair(4, 3), {}),
        "the first axis of 3": (pair(3, 3), {}),
        "last axis": (pair(3, 3), {"dim": -1}),
        "middle axis": (pair(2, 3, 4), {"dim": 1}),
        "one vector": (pair(3), {}),
        "no vectors": (pair(0, 3), {}),
    },
    gradients=["X", "Y"],
    refusals={
        "no axis of 3": (pair(4, 2), {}, pm.ShapeError, "X [4, 2] 3"),
        "axis of 4": (pair(4, 3), {"dim": 0}, pm.ShapeError, "X [4, 3] 4"),
        "one element": (pair(1), {}, pm.ShapeError, "X [1] 3"),
        "no such axis": (pair(4, 3), {"dim": 2}, pm.ShapeError, "dim 2"),
        "other shape": ({"X": array(4, 3), "Y": array(1, 3)}, {}, pm.ShapeError, "X [4, 3] Y [1, 3]"),
    },
)
