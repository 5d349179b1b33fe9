"""proximal_adagrad: adagrad's step without epsilon, then a proximal step of l1 and l2 regularization."""

import numpy as np

from families.updates import dense_only, steps
from harness import op_tests, run_op


def reference(inputs, attrs):
    rate, g = inputs["LearningRate"].reshape(()), inputs["Grad"]
    moment = inputs["Moment"] + g * g
    q = inputs["Param"] - rate * g / np.sqrt(moment)
    p = np.sign(q) * np.maximum(np.abs(q) - rate * max(attrs["l1"], 0), 0) / (1 + rate * attrs["l2"])
    return {"ParamOut": p, "MomentOut": moment}


step = steps(0.25, Moment=dict(low=0.25, seed=2))

test_proximal_adagrad = op_tests(
    "proximal_adagrad",
    reference,
    cases={
        "plain": (step(5, 7), {}),
        "l1": (step(40), {"l1": 0.5}),
        "both": (step(5, 7), {"l1": 0.5, "l2": 0.25}),
        "one element": (step(), {"l2": 0.5}),
        "no rows": (step(0, 4), {"l1": 0.5}),
    },
    refusals={**dense_only(step)},
)


def test_nothing_is_added_to_the_root():
    # Trap: gradient 0 at moment 0 is 0 / 0, and any gradient at moment 0 is a step of the rate.
    inputs = step(2, grad=np.array([0.0, 1e-10])) | {"Moment": np.zeros(2), "Param": np.ones(2)}
    out = run_op("proximal_adagrad", inputs)["ParamOut"]
    assert np.isnan(out[0])
    np.testing.assert_allclose(out[1], 0.75)
