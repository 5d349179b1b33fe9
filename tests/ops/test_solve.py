"""solve: Out = X^-1 Y."""

import numpy as np

import paddle_mini as pm
from families.matrices import refused, regular
from harness import array, op_tests


def reference(inputs, attrs):
    x, y = inputs["X"], inputs["Y"]
    if y.ndim == 1 or y.shape == x.shape[:-1]:
        return {"Out": np.linalg.solve(x, y[..., None])[..., 0]}
    return {"Out": np.linalg.solve(x, y)}


test_solve = op_tests(
    "solve",
    reference,
    cases={
        "matrices": ({"X": regular(3, 3), "Y": array(3, 2, seed=1)}, {}),
        "a vector": ({"X": regular(3, 3), "Y": array(3, seed=1)}, {}),
        "vectors": ({"X": regular(2, 3, 3), "Y": array(2, 3, seed=1)}, {}),
        "one vector for all": ({"X": regular(2, 3, 3), "Y": array(3, seed=1)}, {}),
        "batch": ({"X": regular(2, 3, 3), "Y": array(2, 3, 5, seed=1)}, {}),
        "one X for all": ({"X": regular(3, 3), "Y": array(4, 3, 2, seed=1)}, {}),
        "both broadcast": ({"X": regular(2, 1, 3, 3), "Y": array(1, 4, 3, 2, seed=1)}, {}),
        "no systems": ({"X": array(0, 3, 3), "Y": array(0, 3, 2)}, {}),
    },
    gradients=["X", "Y"],
    refusals={
        **refused("X", Y=array(2, 2)),
        "rows": ({"X": regular(3, 3), "Y": array(2, 3)}, {}, pm.ShapeError, "X [3, 3] Y [2, 3] 2 rows"),
        "batches": ({"X": regular(2, 3, 3), "Y": array(3, 3, 2)}, {}, pm.ShapeError, "broadcast"),
        "singular": ({"X": np.ones((2, 2)), "Y": array(2, 2)}, {}, pm.OpError, "matrix 0 X singular"),
    },
)
