"""multinomial: indices drawn with these weights."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op

ONLY = np.array([[0.0, 2.0, 0.0], [0.5, 0.0, 0.0]])
REPLACED = {"replacement": True}

test_multinomial = op_tests(
    "multinomial",
    lambda inputs, attrs: {"Out": np.repeat(inputs["X"].argmax(-1)[..., None], attrs["num_samples"], -1).astype("int64")},
    cases={
        "certain": ({"X": ONLY}, {"num_samples": 4, **REPLACED}),
        "one of them": ({"X": ONLY}, {}),
        "one row": ({"X": ONLY[0]}, {"num_samples": 2, **REPLACED}),
        "one element": ({"X": np.ones(1)}, {}),
        "no rows": ({"X": np.ones((0, 4))}, {}),
    },
    refusals={
        "too many": ({"X": array(3)}, {"num_samples": 4}, pm.ShapeError, "num_samples 4 3"),
        "too few weights": ({"X": ONLY}, {"num_samples": 2}, pm.OpError, "num_samples 2 1"),
        "negative": ({"X": np.array([1.0, -1.0])}, {}, pm.OpError, "-1 element 1"),
        "no weight": ({"X": np.zeros(3)}, {}, pm.OpError, "row 0 0"),
        "three dimensions": ({"X": np.ones((2, 2, 2))}, {}, pm.ShapeError, "X [2, 2, 2]"),
    },
)

WEIGHTS = np.array([1.0, 2.0, 0.0, 3.0, 4.0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_frequencies_are_proportional_to_the_weights(dtype):
    out = run_op("multinomial", {"X": WEIGHTS.astype(dtype)}, {"num_samples": 20_000, **REPLACED})["Out"]
    assert out.dtype == "int64" and out.shape == (20_000,)
    np.testing.assert_allclose(np.bincount(out, minlength=5) / 20_000, WEIGHTS / 10, atol=0.018)  # five deviations


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_without_replacement(dtype):
    """All different; the second one has the probability of the weights that are left."""
    out = run_op("multinomial", {"X": np.tile(WEIGHTS, (20_000, 1)).astype(dtype)}, {"num_samples": 4})["Out"]
    np.testing.assert_array_equal(np.sort(out), np.tile([0, 1, 3, 4], (20_000, 1)))
    np.testing.assert_allclose(np.bincount(out[:, 0], minlength=5) / 20_000, WEIGHTS / 10, atol=0.018)
    second = out[out[:, 0] == 4][:, 1]
    np.testing.assert_allclose(np.bincount(second, minlength=5)[[0, 1, 3]] / second.size, np.array([1, 2, 3]) / 6, atol=0.03)
