"""bernoulli: 1 with probability X."""

import numpy as np

import paddle_mini as pm
from harness import op_tests, run_op

CERTAIN = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])

test_bernoulli = op_tests(
    "bernoulli",
    lambda inputs, attrs: {"Out": inputs["X"]},
    cases={"certain": ({"X": CERTAIN}, {}), "one element": ({"X": np.array(1.0)}, {}), "no rows": ({"X": np.zeros((0, 4))}, {})},
    refusals={
        "over 1": ({"X": np.array([0.5, 1.5])}, {}, pm.OpError, "1.5 element 1"),
        "negative": ({"X": np.array([-0.5])}, {}, pm.OpError, "-0.5"),
        "NaN": ({"X": np.array([np.nan])}, {}, pm.OpError, "nan"),
    },
)


def test_frequencies_are_the_probabilities():
    for dtype in ("float32", "float64"):
        probabilities = np.repeat(np.array([[0.1], [0.5], [0.9]], dtype), 20_000, axis=1)
        out = run_op("bernoulli", {"X": probabilities})["Out"]
        assert out.dtype == dtype and set(np.unique(out)) == {0, 1}
        np.testing.assert_allclose(out.mean(1), [0.1, 0.5, 0.9], atol=0.018)  # five deviations
