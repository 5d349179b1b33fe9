"""svd: U, S and VH with X = U diagonal(S) VH."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import dropped, lod_tensor

REFUSALS = {
    "a vector": ({"X": array(3)}, {}, pm.ShapeError, "X [3] matrices"),
    "integers": ({"X": ints(2, 2)}, {}, pm.Error, "int64"),
    "not finite": ({"X": np.stack([np.eye(2), np.full((2, 2), np.nan)])}, {}, pm.OpError, "matrix 1 X finite"),
    "infinite": ({"X": np.full((2, 2), np.inf)}, {}, pm.OpError, "matrix 0 X finite"),
}

test_svd = op_tests(
    "svd",
    dropped(lambda inputs, attrs: {"S": np.linalg.svd(inputs["X"], compute_uv=False)}),
    cases={
        "square": ({"X": array(4, 4)}, {}),
        "tall": ({"X": array(5, 3)}, {}),
        "wide": ({"X": array(3, 5)}, {}),
        "batch": ({"X": array(2, 3, 4, 3)}, {}),
        "one element": ({"X": array(1, 1)}, {}),
        "no matrices": ({"X": array(0, 3, 2)}, {}),
        "full, square": ({"X": array(3, 3)}, {"full_matrices": True}),
    },
    values_only={
        "sequences": ({"X": lod_tensor(array(3, 3), [1, 2])}, {}),
        "full, tall": ({"X": array(5, 3)}, {"full_matrices": True}),
        "full, wide": ({"X": array(2, 3, 5)}, {"full_matrices": True}),
    },
    gradients=["X"],
    unchecked=["U", "VH"],
    refusals=REFUSALS,
    tolerance={"float32": 1e-5},
)


def graded():
    """A matrix whose singular values are 1, 1e-4, 1e-8, 1e-12."""
    u, v = np.linalg.qr(array(6, 4))[0], np.linalg.qr(array(4, 4, seed=1))[0]
    return u * [1, 1e-4, 1e-8, 1e-12] @ v


@pytest.mark.parametrize(
    "x",
    [
        array(5, 3),
        array(3, 5),
        array(40, 40),
        np.ones((4, 3)),
        np.zeros((3, 4)),
        graded(),
        1e30 * array(4, 4),
        1e-30 * array(4, 3),
    ],
    ids=["tall", "wide", "large", "one direction", "zeros", "graded", "huge", "tiny"],
)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-6), ("float64", 4e-15)])
def test_factors(x, full, dtype, tolerance):
    """Signs are not defined: these are the properties that define the rest."""
    x = x.astype(dtype)
    found = run_op("svd", {"X": x}, {"full_matrices": full}, ["U", "S", "VH"])
    u, s, vh = found["U"].astype("float64"), found["S"].astype("float64"), found["VH"].astype("float64")
    assert {value.dtype.name for value in found.values()} == {dtype}
    m, n = x.shape
    k, largest = min(m, n), max(s.max(), 1e-300)
    assert u.shape == (m, m if full else k) and s.shape == (k,) and vh.shape == (n if full else k, n)
    np.testing.assert_allclose(u[:, :k] * s @ vh[:k], x, rtol=0, atol=20 * tolerance * largest)
    np.testing.assert_allclose(u.T @ u, np.eye(u.shape[1]), atol=20 * tolerance)
    np.testing.assert_allclose(vh @ vh.T, np.eye(vh.shape[0]), atol=20 * tolerance)
    assert (s >= 0).all() and (np.diff(s) <= 0).all()
    np.testing.assert_allclose(s, np.linalg.svd(x.astype("float64"), compute_uv=False), rtol=0, atol=20 * tolerance * largest)


@pytest.mark.parametrize("x", [np.ones((3, 2)), np.eye(3), np.zeros((2, 3))], ids=["rank 1", "equal values", "zeros"])
def test_the_gradient_of_singular_values_is_finite(x):
    """That of their sum is U VH, of whatever vectors were found."""
    main = pm.Program()
    with pm.program_guard(main):
        a = pm.layers.data("a", list(x.shape), "float64")
        a.stop_gradient = False
        u, s, vh = pm.layers.svd(a)
        (gradient,) = pm.gradients([pm.layers.reduce_sum(s)], [a])
    found, left, right = pm.Executor().run(main, feed={"a": x}, fetch_list=[gradient, u, vh])
    np.testing.assert_allclose(found, left @ right, atol=1e-12)
