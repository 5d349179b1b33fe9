"""spectral_norm: Weight divided by its largest singular value."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    weight, u, v = inputs["Weight"], inputs["U"], inputs["V"]
    matrix = np.moveaxis(weight, attrs["dim"], 0).reshape(weight.shape[attrs["dim"]], -1)
    for _ in range(attrs["power_iters"]):
        v = matrix.T @ u
        v /= np.linalg.norm(v) + attrs["eps"]
        u = matrix @ v
        u /= np.linalg.norm(u) + attrs["eps"]
    return {"Out": weight / (u @ matrix @ v)}


def given(*shape, dim=0):
    return {"Weight": array(*shape), "U": 1 + array(shape[dim], seed=1), "V": 1 + array(np.prod(shape) // shape[dim], seed=2)}


FIXED = {"power_iters": 0}  # the vectors are constants: the gradient of U and V through the iterations is left out

test_spectral_norm = op_tests(
    "spectral_norm",
    reference,
    cases={
        "matrix": (given(3, 4), FIXED),
        "filters": (given(4, 3, 2, 2), FIXED),
        "second axis": (given(3, 4, 2, dim=1), {"dim": 1, **FIXED}),
        "one element": (given(1, 1), FIXED),
    },
    values_only={
        "one iteration": (given(3, 4), {}),
        "iterations": (given(4, 3, 2), {"power_iters": 5}),
        "iterations, last axis": (given(4, 3, 2, dim=2), {"power_iters": 3, "dim": 2, "eps": 0.015625}),
    },
    gradients=["Weight"],
    tolerance={"float32": 1e-5},
    refusals={
        "a vector": ({"Weight": array(3), "U": array(3), "V": array(1)}, {}, pm.ShapeError, "Weight [3] 2 dimensions"),
        "U": ({**given(3, 4), "U": array(4)}, {}, pm.ShapeError, "U [4] [3]"),
        "V": ({**given(3, 4), "V": array(3)}, {}, pm.ShapeError, "V [3] [4]"),
        "axis": (given(3, 4), {"dim": 2}, pm.ProgramError, "'dim' 2"),
        "negative iterations": (given(3, 4), {"power_iters": -1}, pm.ProgramError, "power_iters -1"),
    },
)


def test_many_iterations_find_the_singular_value_and_its_gradient():
    """Where the vectors have converged, that they are constants changes nothing."""
    inputs, slope = given(3, 4), array(3, 4, seed=5)
    inputs = {port: value.astype("float64") for port, value in inputs.items()}
    weight, attrs = inputs["Weight"], {"power_iters": 400}
    normed = lambda w: w / np.linalg.norm(w, 2)
    np.testing.assert_allclose(run_op("spectral_norm", inputs, attrs)["Out"], normed(weight), rtol=1e-10)
    found = run_op("spectral_norm_grad", {**inputs, "Out@GRAD": slope.astype("float64")}, attrs, ["Weight@GRAD"])["Weight@GRAD"]
    for at in np.ndindex(3, 4):
        change = np.zeros((3, 4))
        change[at] = 1e-6
        expected = (slope * (normed(weight + change) - normed(weight - change))).sum() / 2e-6
        np.testing.assert_allclose(found[at], expected, rtol=1e-6, atol=1e-7)
