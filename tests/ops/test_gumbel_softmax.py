"""gumbel_softmax: the softmax of noisy logarithms."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    return {"Out": np.ones_like(inputs["X"])}


test_gumbel_softmax = op_tests(
    "gumbel_softmax",
    reference,
    cases={
        "lines of one": ({"X": array(3, 1)}, {}),
        "first axis": ({"X": array(1, 4)}, {"axis": 0, "hard": True}),
        "one element": ({"X": array()}, {"temperature": 2.0}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    refusals={
        "no such axis": ({"X": array(3)}, {"axis": 1}, pm.ShapeError, "axis 1"),
        "temperature 0": ({"X": array(3)}, {"temperature": 0.0}, pm.ProgramError, "temperature 0"),
    },
)

WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4])


def test_choices_have_the_probabilities_of_the_weights():
    for dtype in ("float32", "float64"):
        x = np.tile(np.log(WEIGHTS), (20_000, 1)).astype(dtype)
        hard = run_op("gumbel_softmax", {"X": x}, {"hard": True})["Out"]
        assert hard.dtype == dtype and set(np.unique(hard)) == {0, 1} and (hard.sum(1) == 1).all()
        np.testing.assert_allclose(hard.mean(0), WEIGHTS, atol=0.018)  # five deviations


def test_the_temperature_sharpens():
    x = np.tile(np.log(WEIGHTS), (2000, 1))
    cold, warm = (run_op("gumbel_softmax", {"X": x.T}, {"temperature": t, "axis": 0})["Out"] for t in (0.1, 10.0))
    np.testing.assert_allclose(cold.sum(0), 1)
    assert cold.max(0).mean() > 0.9 and warm.max(0).mean() < 0.35


def test_the_gradient_is_that_of_the_softmax():
    out = np.array([[0.2, 0.3, 0.5]])
    gradient = np.array([[1.0, -2.0, 0.5]])
    found = run_op("gumbel_softmax_grad", {"Out": out, "Out@GRAD": gradient}, {"temperature": 2.0})["X@GRAD"]
    np.testing.assert_allclose(found, out * (gradient - (out * gradient).sum()) / 2, rtol=1e-12)
