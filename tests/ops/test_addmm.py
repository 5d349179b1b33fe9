"""addmm: Out = Beta Input + Alpha X Y."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    alpha, beta = (np.float64(np.float32(attrs[name])) for name in ("Alpha", "Beta"))
    return {"Out": beta * inputs["Input"] + alpha * (inputs["X"] @ inputs["Y"])}


def three(input_shape, m, k, n):
    return {"Input": array(*input_shape, seed=1), "X": array(m, k), "Y": array(k, n, seed=2)}


test_addmm = op_tests(
    "addmm",
    reference,
    cases={
        "matrices": (three((3, 5), 3, 4, 5), {}),
        "scaled": (three((3, 5), 3, 4, 5), {"Alpha": 0.3, "Beta": -2.0}),
        "without Input": (three((3, 5), 3, 4, 5), {"Beta": 0.0}),
        "one row": (three((1, 5), 3, 4, 5), {"Beta": 0.5}),
        "one column": (three((3, 1), 3, 4, 5), {}),
        "number": (three((1, 1), 3, 4, 5), {}),
        "vector": (three((5,), 3, 4, 5), {}),
        "one element": (three((1,), 1, 1, 1), {}),
        "no rows": (three((0, 5), 0, 4, 5), {}),
        "no rows, one row": (three((1, 5), 0, 4, 5), {}),
        "nothing to add": (three((3, 5), 3, 0, 5), {}),
    },
    gradients=["Input", "X", "Y"],
    refusals={
        "other width": ({"Input": array(3, 5), "X": array(3, 4), "Y": array(6, 5)}, {}, pm.ShapeError, "X 4 Y 6"),
        "other Input": (three((2, 5), 3, 4, 5), {}, pm.ShapeError, "Input [2, 5] [3, 5]"),
        "Input of three axes": (three((1, 3, 5), 3, 4, 5), {}, pm.ShapeError, "Input [1, 3, 5] 2"),
        "vector Y": ({"Input": array(3), "X": array(3, 4), "Y": array(4)}, {}, pm.ShapeError, "Y 1 2"),
    },
)


def test_beta_0_does_not_read_input():
    inputs = three((2, 2), 2, 2, 2)
    inputs["Input"][:] = np.nan
    assert np.isfinite(run_op("addmm", inputs, {"Beta": 0.0})["Out"]).all()
