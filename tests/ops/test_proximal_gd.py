"""proximal_gd: q = Param - LearningRate * Grad; sign(q) max(|q| - LearningRate * l1, 0) / (1 + LearningRate * l2)."""

import numpy as np

from families.updates import dense_only, steps
from harness import op_tests, run_op


def reference(inputs, attrs):
    rate = inputs["LearningRate"].reshape(())
    q = inputs["Param"] - rate * inputs["Grad"]
    return {"ParamOut": np.sign(q) * np.maximum(np.abs(q) - rate * max(attrs["l1"], 0), 0) / (1 + rate * attrs["l2"])}


step = steps(0.25)

test_proximal_gd = op_tests(
    "proximal_gd",
    reference,
    cases={
        "plain": (step(5, 7), {}),
        "l1": (step(40), {"l1": 0.5}),
        "l2": (step(40), {"l2": 0.5}),
        "both": (step(5, 7), {"l1": 0.5, "l2": 0.25}),
        "l1 below 0": (step(9), {"l1": -0.5}),
        "one element": (step(), {"l1": 0.125}),
        "no rows": (step(0, 4), {"l1": 0.5}),
    },
    refusals={**dense_only(step)},
)


def test_small_parameters_become_exactly_zero():
    inputs = step(3, grad=np.zeros(3)) | {"Param": np.array([0.125, -0.125, 0.5])}
    np.testing.assert_array_equal(run_op("proximal_gd", inputs, {"l1": 1.0})["ParamOut"], [0, 0, 0.25])
