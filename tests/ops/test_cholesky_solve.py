"""cholesky_solve: Out = A^-1 X for the factor Y of A."""

import numpy as np

import paddle_mini as pm
from families.matrices import refused, regular
from harness import array, op_tests


def reference(inputs, attrs):
    x, y = inputs["X"], inputs["Y"]
    lower = np.triu(y).swapaxes(-1, -2) if attrs["upper"] else np.tril(y)
    a = lower @ lower.swapaxes(-1, -2)
    batch = np.broadcast_shapes(x.shape[:-2], a.shape[:-2])
    return {"Out": np.linalg.solve(np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(x, (*batch, *x.shape[-2:])))}


test_cholesky_solve = op_tests(
    "cholesky_solve",
    reference,
    cases={
        "lower": ({"X": array(3, 2, seed=1), "Y": regular(3, 3)}, {}),
        "upper": ({"X": array(3, 2, seed=1), "Y": regular(3, 3)}, {"upper": True}),
        "batch": ({"X": array(2, 3, 5, seed=1), "Y": regular(2, 3, 3)}, {}),
        "one factor for all": ({"X": array(4, 3, 2, seed=1), "Y": regular(3, 3)}, {"upper": True}),
        "both broadcast": ({"X": array(1, 4, 3, 2, seed=1), "Y": regular(2, 1, 3, 3)}, {}),
        "no systems": ({"X": array(0, 3, 2), "Y": array(0, 3, 3)}, {}),
    },
    gradients=["X", "Y"],
    refusals={
        **refused("Y", X=array(2, 2)),
        "rows": ({"X": array(2, 3), "Y": regular(3, 3)}, {}, pm.ShapeError, "Y [3, 3] X [2, 3] 2 rows"),
        "a vector on the right": ({"X": array(3), "Y": regular(3, 3)}, {}, pm.ShapeError, "X [3] 2 dimensions"),
        "singular": ({"X": array(2, 2), "Y": np.array([[1.0, 0], [1, 0]])}, {}, pm.OpError, "matrix 0 Y singular"),
    },
    tolerance={"float32": 1e-5},
)
