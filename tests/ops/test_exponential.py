"""exponential: drawn from the exponential distribution."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op

test_exponential = op_tests(
    "exponential",
    lambda inputs, attrs: {"Out": np.zeros_like(inputs["X"])},
    cases={"no rows": ({"X": array(0, 4)}, {"lambda": 2.0}), "no columns": ({"X": array(3, 0)}, {})},
    refusals={
        "rate 0": ({"X": array(3)}, {"lambda": 0.0}, pm.ProgramError, "lambda 0"),
        "rate NaN": ({"X": array(3)}, {"lambda": float("nan")}, pm.ProgramError, "lambda nan"),
    },
)


def test_the_distribution():
    """The share of numbers below each quantile."""
    for dtype in ("float32", "float64"):
        out = run_op("exponential", {"X": np.zeros(50_000, dtype)}, {"lambda": 2.0})["Out"]
        assert out.dtype == dtype and (out >= 0).all() and np.isfinite(out).all()
        for share in (0.01, 0.25, 0.5, 0.9, 0.99):
            assert abs((out < -np.log1p(-share) / 2).mean() - share) < 0.0112  # five deviations
