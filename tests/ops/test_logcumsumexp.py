"""logcumsumexp: Out[j] = log of the sum of exp(X) up to j along an axis."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"].ravel() if attrs["flatten"] else inputs["X"]
    if x.ndim == 0:
        return {"Out": x}
    axis = 0 if attrs["flatten"] else attrs["axis"]
    terms = np.flip(np.exp(x), axis) if attrs["reverse"] else np.exp(x)
    sums = np.cumsum(terms, axis=axis) - (terms if attrs["exclusive"] else 0)
    if attrs["exclusive"] and x.size:
        np.moveaxis(sums, axis, 0)[0] = 0
    with np.errstate(divide="ignore"):
        return {"Out": np.log(np.flip(sums, axis) if attrs["reverse"] else sums)}


test_logcumsumexp = op_tests(
    "logcumsumexp",
    reference,
    cases={
        "last axis": ({"X": array(3, 7)}, {}),
        "first axis": ({"X": array(3, 4)}, {"axis": 0}),
        "reverse": ({"X": array(3, 4)}, {"axis": 0, "reverse": True}),
        "flat": ({"X": array(3, 4)}, {"flatten": True}),
        "number": ({"X": array()}, {}),
        "one element": ({"X": array(1)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "no columns": ({"X": array(3, 0)}, {}),
    },
    gradients=["X"],
    refusals={
        "no such axis": ({"X": array(3, 4)}, {"axis": 2}, pm.ShapeError, "axis 2"),
        "integers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)

EXCLUSIVE = {"X": array(3, 7)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_exclusive(dtype, reverse):
    """Trap: the logarithm of the empty sum is the lowest number, not -inf."""
    x = EXCLUSIVE["X"].astype(dtype)
    attrs = {"exclusive": True, "reverse": reverse, "flatten": False, "axis": -1}
    expected = np.maximum(reference({"X": x}, attrs)["Out"], np.finfo(dtype).min)
    found = run_op("logcumsumexp", {"X": x}, attrs)["Out"]
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


def test_gradient_of_exclusive_sums():
    x = EXCLUSIVE["X"]
    out = run_op("logcumsumexp", EXCLUSIVE, {"exclusive": True})["Out"]
    g = array(3, 7, seed=5)
    found = run_op("logcumsumexp_grad", {"X": x, "Out": out, "Out@GRAD": g}, {"exclusive": True})["X@GRAD"]
    expected = [[sum(g[r, j] * np.exp(x[r, i] - out[r, j]) for j in range(i + 1, 7)) for i in range(7)] for r in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_large_and_infinite_numbers():
    x = np.array([-np.inf, 1000.0, 1000.0, -1000.0, np.inf])
    out = run_op("logcumsumexp", {"X": x})["Out"]
    np.testing.assert_allclose(out, [-np.inf, 1000, 1000 + np.log(2), 1000 + np.log(2), np.inf])
    gradient = run_op("logcumsumexp_grad", {"X": x, "Out": out, "Out@GRAD": np.ones(5)})["X@GRAD"]
    np.testing.assert_allclose(gradient, [0, 2, 1, 0, 0])
