"""poisson: drawn from the Poisson distributions with these means."""

import numpy as np

import paddle_mini as pm
from harness import op_tests, run_op

test_poisson = op_tests(
    "poisson",
    lambda inputs, attrs: {"Out": np.zeros_like(inputs["X"])},
    cases={
        "means of 0": ({"X": np.zeros((3, 4))}, {}),
        "one element": ({"X": np.zeros(())}, {}),
        "no rows": ({"X": np.zeros((0, 4))}, {}),
    },
    refusals={
        "negative": ({"X": np.array([1.0, -0.5])}, {}, pm.OpError, "-0.5 element 1"),
        "NaN": ({"X": np.array([np.nan])}, {}, pm.OpError, "nan"),
        "infinite": ({"X": np.array([np.inf])}, {}, pm.OpError, "inf"),
    },
)


def test_means_and_variances():
    means = np.array([[0.3], [4.0], [100.0]])
    for dtype in ("float32", "float64"):
        out = run_op("poisson", {"X": np.repeat(means, 20_000, axis=1).astype(dtype)})["Out"]
        assert out.dtype == dtype and (out == np.floor(out)).all() and out.min() == 0
        error = 5 * np.sqrt(means[:, 0] / 20_000)
        assert (np.abs(out.mean(1) - means[:, 0]) < error).all()
        np.testing.assert_allclose(out.var(1), means[:, 0], rtol=0.08)


def test_the_gradient_is_0():
    out = run_op("poisson_grad", {"Out@GRAD": np.ones((2, 3))})["X@GRAD"]
    np.testing.assert_array_equal(out, np.zeros((2, 3)))
