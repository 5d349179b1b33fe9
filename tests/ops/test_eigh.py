"""eigh: the eigenvalues and eigenvectors of symmetric matrices."""

import numpy as np
import pytest

import paddle_mini as pm
from families.matrices import check_symmetric_gradient, positive, refused
from harness import array, op_tests, run_op


def triangle(x, attrs):
    lower = np.tril(x) + np.tril(x, -1).swapaxes(-1, -2)
    return np.triu(x) + np.triu(x, 1).swapaxes(-1, -2) if attrs["UPLO"] == "U" else lower


test_eigh = op_tests(
    "eigh",
    lambda inputs, attrs: {"Eigenvalues": np.linalg.eigvalsh(triangle(inputs["X"], attrs))},
    cases={
        "matrix": ({"X": positive(3, 3)}, {}),
        "batch": ({"X": positive(2, 3, 4, 4)}, {}),
        "only the lower triangle is read": ({"X": array(3, 3)}, {}),
        "only the upper triangle is read": ({"X": array(3, 3)}, {"UPLO": "U"}),
        "no matrices": ({"X": array(0, 3, 3)}, {}),
    },
    unchecked=["Eigenvectors"],
    refusals={
        **refused("X"),
        "triangle": ({"X": array(2, 2)}, {"UPLO": "l"}, pm.ProgramError, "'UPLO'"),
        "not finite": ({"X": np.full((2, 2), np.nan)}, {}, pm.OpError, "matrix 0 X finite"),
    },
)


@pytest.mark.parametrize("UPLO", ["L", "U"])
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float64", 1e-12)])
def test_vectors(UPLO, dtype, tolerance):
    """Their signs are not defined: these are the properties that define the rest."""
    x = array(4, 5, 5).astype(dtype)
    found = run_op("eigh", {"X": x}, {"UPLO": UPLO}, ["Eigenvalues", "Eigenvectors"])
    w, v = found["Eigenvalues"], found["Eigenvectors"]
    assert w.dtype == v.dtype == dtype
    symmetric = triangle(x, {"UPLO": UPLO})
    np.testing.assert_allclose(symmetric @ v, v * w[:, None, :], atol=tolerance)
    np.testing.assert_allclose(v.swapaxes(1, 2) @ v, np.broadcast_to(np.eye(5), x.shape), atol=tolerance)


def test_gradient():
    """Small differences do not change the sign of a vector."""
    ports = {"Eigenvalues": "w", "Eigenvectors": "v"}
    check_symmetric_gradient("eigh", ports, {"Eigenvalues": array(3, seed=5), "Eigenvectors": array(3, 3, seed=6)}, {})
    check_symmetric_gradient("eigh", ports, {"Eigenvalues": array(3, seed=5), "Eigenvectors": array(3, 3, seed=6)}, {"UPLO": "U"})


def test_the_gradient_is_symmetric():
    """Also if the gradient of the vectors does not ask for a rotation of them."""
    x = positive(4, 4)
    w, v = np.linalg.eigh(x)
    given = {"Eigenvalues@GRAD": array(4, seed=5), "Eigenvectors@GRAD": array(4, 4, seed=6)}
    found = run_op("eigh_grad", {"Eigenvalues": w, "Eigenvectors": v, **given}, {}, ["X@GRAD"])["X@GRAD"]
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    inner = v.T @ given["Eigenvectors@GRAD"] / (w - w[:, None] + np.eye(4))
    inner[np.diag_indices(4)] = given["Eigenvalues@GRAD"]
    expected = v @ inner @ v.T
    np.testing.assert_allclose(found, (expected + expected.T) / 2, atol=1e-12)
