"""cos_sim: the cosine of the angle between each row of X and that of Y."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, y = (inputs[port].reshape(len(inputs[port]), int(np.prod(inputs[port].shape[1:]))) for port in ("X", "Y"))
    x_norm, y_norm = (np.maximum(np.sqrt((v * v).sum(axis=1, keepdims=True)), 1e-8) for v in (x, y))
    return {"Out": (x * y).sum(axis=1, keepdims=True) / (x_norm * y_norm), "XNorm": x_norm, "YNorm": y_norm}


test_cos_sim = op_tests(
    "cos_sim",
    reference,
    cases={
        "rows": ({"X": array(4, 5), "Y": array(4, 5, seed=1)}, {}),
        "one row of Y": ({"X": array(4, 5), "Y": array(1, 5, seed=1)}, {}),
        "more axes": ({"X": array(3, 4, 5), "Y": array(3, 4, 5, seed=1)}, {}),
        "one row": ({"X": array(1, 5), "Y": array(1, 5, seed=1)}, {}),
        "one element": ({"X": array(1), "Y": array(1, seed=1)}, {}),
        "no rows": ({"X": array(0, 5), "Y": array(0, 5)}, {}),
        "no rows, one of Y": ({"X": array(0, 5), "Y": array(1, 5)}, {}),
        "rows of nothing": ({"X": array(3, 0), "Y": array(3, 0)}, {}),
    },
    gradients=["X", "Y"],
    gradient_of=["Out"],
    refusals={
        "other width": ({"X": array(4, 5), "Y": array(4, 6)}, {}, pm.ShapeError, "X [4, 5] Y [4, 6]"),
        "other rows": ({"X": array(4, 5), "Y": array(2, 5)}, {}, pm.ShapeError, "X [4, 5] Y [2, 5]"),
        "numbers": ({"X": array(), "Y": array()}, {}, pm.ShapeError, "rows"),
    },
)


def test_rows_of_zeros_give_zero():
    out = run_op("cos_sim", {"X": np.zeros((2, 3)), "Y": array(2, 3)})["Out"]
    np.testing.assert_array_equal(out, [[0], [0]])
