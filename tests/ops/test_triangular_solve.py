"""triangular_solve: Out = X^-1 Y for a triangular X."""

import numpy as np

import paddle_mini as pm
from families.matrices import refused, regular
from harness import array, op_tests


def reference(inputs, attrs):
    x = np.triu(inputs["X"]) if attrs["upper"] else np.tril(inputs["X"])
    if attrs["unitriangular"]:
        x = np.where(np.eye(x.shape[-1]) > 0, 1, x)
    return {"Out": np.linalg.solve(x.swapaxes(-1, -2) if attrs["transpose"] else x, inputs["Y"])}


PAIR = {"X": regular(3, 3), "Y": array(3, 2, seed=1)}

test_triangular_solve = op_tests(
    "triangular_solve",
    reference,
    cases={
        **{
            f"upper {upper}, transpose {transpose}, unit {unit}": (
                PAIR,
                {"upper": upper, "transpose": transpose, "unitriangular": unit},
            )
            for upper in (True, False)
            for transpose in (True, False)
            for unit in (True, False)
        },
        "batch": ({"X": regular(2, 3, 3), "Y": array(2, 3, 5, seed=1)}, {}),
        "both broadcast": ({"X": regular(2, 1, 3, 3), "Y": array(4, 3, 2, seed=1)}, {"transpose": True}),
        "no systems": ({"X": array(0, 3, 3), "Y": array(0, 3, 2)}, {}),
    },
    gradients=["X", "Y"],
    refusals={
        **refused("X", Y=array(2, 2)),
        "a vector Y": ({"X": regular(3, 3), "Y": array(3)}, {}, pm.ShapeError, "Y [3] 2 dimensions"),
        "rows": ({"X": regular(3, 3), "Y": array(2, 3)}, {}, pm.ShapeError, "X [3, 3] Y [2, 3] 2 rows"),
        "singular": ({"X": np.diag([1.0, 0]), "Y": array(2, 2)}, {}, pm.OpError, "matrix 0 X singular"),
    },
)
