"""adamax: MomentOut as adam's; InfNormOut = max(|Grad|, beta2 InfNorm + epsilon); steps of MomentOut / InfNormOut."""

import numpy as np

import paddle_mini as pm
from families.updates import dense_only, steps
from harness import op_tests, run_op


def reference(inputs, attrs):
    p, g, m, u = (inputs[port] for port in ("Param", "Grad", "Moment", "InfNorm"))
    beta1, beta2, epsilon = (np.float64(np.float32(attrs[name])) for name in ("beta1", "beta2", "epsilon"))
    m = beta1 * m + (1 - beta1) * g
    u = np.maximum(np.abs(g), beta2 * u + epsilon)  # Trap: epsilon only where the norm decays
    rate = inputs["LearningRate"].reshape(()) / (1 - inputs["Beta1Pow"].reshape(()))
    return {"ParamOut": p - rate * m / u, "MomentOut": m, "InfNormOut": u}


step = steps(0.125, Moment=dict(seed=2), InfNorm=dict(low=0.25, seed=3), scalars={"Beta1Pow": 0.75})

test_adamax = op_tests(
    "adamax",
    reference,
    cases={
        "matrix": (step(5, 7), {}),
        "numbers": (step(40), {"beta1": 0.5, "beta2": 0.25, "epsilon": 0.5}),
        "one element": (step(), {}),
        "no rows": (step(0, 4), {}),
    },
    refusals={
        **dense_only(step),
        "two powers": (step(3) | {"Beta1Pow": np.full(2, 0.9)}, {}, pm.ShapeError, "Beta1Pow [2] one element"),
    },
)


def test_the_power_does_not_advance():
    inputs = step(3)
    assert set(run_op("adamax", inputs)) == {"ParamOut", "MomentOut", "InfNormOut"}
    assert inputs["Beta1Pow"] == 0.75


def test_nan_stays():
    norm = run_op("adamax", step(3, grad=np.array([np.nan, 1, 2])))["InfNormOut"]
    assert np.isnan(norm).tolist() == [True, False, False]
