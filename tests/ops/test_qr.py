"""qr: Q and R, orthonormal and upper triangular, with Q R = X."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import dropped, lod_tensor


def reference(inputs, attrs):
    """NumPy has LAPACK's signs too."""
    x, mode = inputs["X"], attrs["mode"]
    if mode == "r":
        return {"Q": np.zeros(0, x.dtype), "R": np.linalg.qr(x, "r")}
    q, r = np.linalg.qr(x, mode)
    return {"Q": q, "R": r}


REFUSALS = {
    "a vector": ({"X": array(3)}, {}, pm.ShapeError, "X [3] matrices"),
    "integers": ({"X": ints(2, 2)}, {}, pm.Error, "int64"),
    "other mode": ({"X": array(2, 2)}, {"mode": "full"}, pm.ProgramError, "'mode'"),
}

test_qr = op_tests(
    "qr",
    dropped(reference),
    cases={
        "square": ({"X": array(4, 4)}, {}),
        "tall": ({"X": array(5, 3)}, {}),
        "wide": ({"X": array(3, 5)}, {}),
        "batch": ({"X": array(2, 3, 4, 3)}, {}),
        "complete, wide": ({"X": array(3, 4)}, {"mode": "complete"}),
        "one element": ({"X": array(1, 1)}, {}),
        "no matrices": ({"X": array(0, 3, 2)}, {}),
    },
    gradients=["X"],
    values_only={"sequences": ({"X": lod_tensor(array(3, 3), [1, 2])}, {})},
    refusals=REFUSALS,
    tolerance={"float32": 1e-5},
)


@pytest.mark.parametrize("shape, mode", [((5, 3), "complete"), ((2, 5, 3), "r"), ((3, 5), "r")])
def test_without_gradient(shape, mode):
    inputs = {"X": array(*shape)}
    found, must = run_op("qr", inputs, {"mode": mode}, ["Q", "R"]), reference(inputs, {"mode": mode})
    for port in ("Q", "R"):
        np.testing.assert_allclose(found[port], must[port], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float64", 1e-13)])
def test_dependent_columns(dtype, tolerance):
    """R is singular, and Q still has orthonormal columns."""
    x = np.repeat(array(5, 2), 2, axis=1).astype(dtype)
    found = run_op("qr", {"X": x}, {}, ["Q", "R"])
    assert found["Q"].dtype == found["R"].dtype == dtype
    np.testing.assert_allclose(found["Q"] @ found["R"], x, atol=tolerance)
    np.testing.assert_allclose(found["Q"].T @ found["Q"], np.eye(4), atol=tolerance)
    assert abs(found["R"].diagonal()).min() < tolerance


@pytest.mark.parametrize("shape, mode", [((3, 2), "complete"), ((3, 2), "r"), ((2, 2), "r")])
def test_modes_without_gradient(shape, mode):
    with pm.program_guard(pm.Program()):
        x = pm.layers.data("x", shape)
        x.stop_gradient = False
        block = pm.default_main_program().global_block()
        block.append_op("qr", {"X": x}, {"Q": "q", "R": "r"}, {"mode": mode})
        with pytest.raises(pm.ProgramError, match=f"mode '{mode}' has no gradient"):
            pm.gradients([pm.layers.mean(block.var("r"))], [x])
