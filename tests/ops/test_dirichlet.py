"""dirichlet: rows drawn from Dirichlet distributions."""

import numpy as np

import paddle_mini as pm
from harness import op_tests, run_op

test_dirichlet = op_tests(
    "dirichlet",
    lambda inputs, attrs: {"Out": np.ones_like(inputs["Alpha"])},
    cases={
        "rows of one": ({"Alpha": np.full((3, 1), 0.7)}, {}),
        "one element": ({"Alpha": np.array([2.0])}, {}),
        "no rows": ({"Alpha": np.ones((0, 4))}, {}),
    },
    refusals={
        "a number": ({"Alpha": np.array(1.0)}, {}, pm.ShapeError, "no dimensions"),
        "concentration 0": ({"Alpha": np.array([1.0, 0.0])}, {}, pm.OpError, "0 element 1"),
        "NaN": ({"Alpha": np.array([np.nan])}, {}, pm.OpError, "nan"),
    },
)


def test_means_and_variances():
    alpha = np.array([0.5, 1.0, 4.5])
    total = alpha.sum()
    mean = alpha / total
    for dtype in ("float32", "float64"):
        out = run_op("dirichlet", {"Alpha": np.tile(alpha, (20_000, 1)).astype(dtype)})["Out"]
        assert out.dtype == dtype and (out >= 0).all()
        np.testing.assert_allclose(out.sum(1), 1, rtol=1e-5)
        np.testing.assert_allclose(out.mean(0), mean, atol=0.006)
        np.testing.assert_allclose(out.var(0), mean * (1 - mean) / (total + 1), rtol=0.06)


def test_small_concentrations_do_not_underflow():
    out = run_op("dirichlet", {"Alpha": np.full((200, 3), 1e-4, "float32")})["Out"]
    np.testing.assert_allclose(out.sum(1), 1, rtol=1e-5)
