"""dist: Out = the p-norm of X - Y, broadcast as in NumPy."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    d, p = np.abs(inputs["X"] - inputs["Y"]), float(np.float32(attrs["p"]))
    if p == 0:
        return {"Out": np.asarray(float((d != 0).sum()))}
    if np.isinf(p):
        return {"Out": np.asarray(d.max(initial=0) if p > 0 else d.min(initial=np.inf))}
    return {"Out": np.asarray((d**p).sum() ** (1 / p))}


def pair(x, y):
    return {"X": array(*x), "Y": array(*y, low=2, high=3, seed=1)}


test_dist = op_tests(
    "dist",
    reference,
    cases={
        **{f"order {p}": (pair((3, 4), (3, 4)), {"p": p}) for p in (2.0, 1.0, 3.0, 0.0, -1.5, np.inf, -np.inf)},
        "broadcast Y": (pair((3, 4), (4,)), {}),
        "both broadcast": (pair((3, 1), (1, 4)), {"p": 1.0}),
        "numbers": (pair((), ()), {}),
        "one element": (pair((1,), (1,)), {}),
        "nothing": (pair((0, 4), (4,)), {}),
    },
    gradients=["X", "Y"],
    refusals={
        "shapes that do not broadcast": (pair((3,), (4,)), {}, pm.ShapeError, "X [3] Y [4]"),
        "order NaN": (pair((3,), (3,)), {"p": np.nan}, pm.Error, "p"),
    },
)
