"""eig, eigvals: the eigenvalues and eigenvectors of square matrices."""

import numpy as np
import pytest

import paddle_mini as pm
from families.matrices import refused, regular
from harness import array, complex_array, op_tests, run_op

NONE = {"not finite": ({"X": np.full((2, 2), np.nan)}, {}, pm.OpError, "matrix 0 X finite"), **refused("X")}
CASES = {
    "complex values": ({"X": array(3, 3, seed=3)}, {}),
    "batch": ({"X": regular(2, 2, 4, 4)}, {}),
    "complex": ({"X": complex_array(3, 3)}, {}),
    "one element": ({"X": array(1, 1)}, {}),
    "no matrices": ({"X": array(0, 3, 3)}, {}),
}

test_eig = op_tests(
    "eig",
    lambda inputs, attrs: {},
    cases=CASES,
    gradients=["X"],
    gradient_of=["Eigenvalues"],
    unchecked=["Eigenvalues", "Eigenvectors"],
    refusals=NONE,
)
test_eigvals = op_tests("eigvals", lambda inputs, attrs: {}, cases=CASES, unchecked=["Out"], refusals=NONE)


def in_order(values):
    return np.sort_complex(np.round(values, 4))


@pytest.mark.parametrize("make", [lambda: array(4, 5, 5), lambda: complex_array(4, 5, 5)], ids=["real", "complex"])
@pytest.mark.parametrize("single, tolerance", [(True, 2e-4), (False, 1e-11)])
def test_values_and_vectors(make, single, tolerance):
    """Their order and the factors of vectors are not defined: these are the properties that define the rest."""
    x = make()
    x = x.astype({"f": "float32", "c": "complex64"}[x.dtype.kind]) if single else x
    found = run_op("eig", {"X": x}, {}, ["Eigenvalues", "Eigenvectors"])
    w, v = found["Eigenvalues"], found["Eigenvectors"]
    assert w.dtype == v.dtype == ("complex64" if single else "complex128")
    np.testing.assert_allclose(x @ v, v * w[:, None, :], atol=tolerance)
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), np.ones((4, 5)), atol=tolerance)
    for values in (w, run_op("eigvals", {"X": x}, {})["Out"]):
        for one, matrix in zip(values, x):
            np.testing.assert_allclose(in_order(one), in_order(np.linalg.eigvals(matrix)), atol=20 * tolerance)


@pytest.mark.parametrize("x", [array(3, 3, seed=3), complex_array(3, 3)], ids=["real", "complex"])
def test_the_gradient_of_vectors(x):
    """The loss is of the squares of their elements' sizes, which do not depend on the factors of vectors."""
    weights = array(3, 3, seed=6)

    def loss(matrix):
        v = run_op("eig", {"X": matrix}, {}, ["Eigenvalues", "Eigenvectors"])["Eigenvectors"]
        return (weights * np.abs(v) ** 2).sum()

    made = run_op("eig", {"X": x}, {}, ["Eigenvalues", "Eigenvectors"])
    given = {"Eigenvalues@GRAD": np.zeros(3, complex), "Eigenvectors@GRAD": 2 * weights * made["Eigenvectors"]}
    gradient = run_op("eig_grad", {"X": x, **made, **given}, {}, ["X@GRAD"])["X@GRAD"]
    assert gradient.dtype == x.dtype
    parts = [(1.0, "real")] + [(1j, "imag")] * np.iscomplexobj(x)
    for at in np.ndindex(3, 3):
        for direction, part in parts:
            change = np.zeros((3, 3), x.dtype)
            change[at] = 1e-6 * direction
            expected = (loss(x + change) - loss(x - change)) / 2e-6
            np.testing.assert_allclose(getattr(gradient, part)[at], expected, rtol=1e-5, atol=1e-7)


def test_without_the_matrix_the_gradient_must_be_real():
    """PaddlePaddle's programs do not pass it."""
    for x, is_real in ((array(3, 3, seed=3), True), (complex_array(3, 3), False)):
        made = run_op("eig", {"X": x}, {}, ["Eigenvalues", "Eigenvectors"])
        given = {**made, "Eigenvalues@GRAD": 2 * made["Eigenvalues"], "Eigenvectors@GRAD": np.zeros((3, 3), complex)}
        if is_real:
            expected = run_op("eig_grad", {"X": x, **given}, {}, ["X@GRAD"])["X@GRAD"]
            np.testing.assert_array_equal(run_op("eig_grad", given, {}, ["X@GRAD"])["X@GRAD"], expected)
        else:
            with pytest.raises(pm.OpError, match="so X is complex"):
                run_op("eig_grad", given, {}, ["X@GRAD"])


def test_vectors_that_are_not_independent_have_no_gradient():
    x = np.array([[1.0, 1], [0, 1]])
    given = {"Eigenvalues": np.ones(2, complex), "Eigenvectors": np.array([[1, -1], [0, 0j]])}
    ones = {"Eigenvalues@GRAD": np.ones(2, complex), "Eigenvectors@GRAD": np.zeros((2, 2), complex)}
    with pytest.raises(pm.OpError, match="no inverse"):
        run_op("eig_grad", {"X": x, **given, **ones}, {}, ["X@GRAD"])
