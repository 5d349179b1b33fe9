"""adadelta: steps scaled by the ratio of the size of past steps to that of past gradients."""

import numpy as np

import paddle_mini as pm
from families.updates import dense_only, steps
from harness import op_tests


def reference(inputs, attrs):
    p, g, a, b = (inputs[port] for port in ("Param", "Grad", "AvgSquaredGrad", "AvgSquaredUpdate"))
    rho, epsilon = (np.float64(np.float32(attrs[name])) for name in ("rho", "epsilon"))
    a = rho * a + (1 - rho) * g * g
    u = -np.sqrt((b + epsilon) / (a + epsilon)) * g
    rate = inputs["LearningRate"].reshape(()) if "LearningRate" in inputs else 1.0
    return {"ParamOut": p + rate * u, "AvgSquaredGradOut": a, "AvgSquaredUpdateOut": rho * b + (1 - rho) * u * u}


step = steps(0.25, AvgSquaredGrad=dict(low=0.25, seed=2), AvgSquaredUpdate=dict(low=0, seed=3))


def old(inputs):
    return {port: value for port, value in inputs.items() if port != "LearningRate"}


test_adadelta = op_tests(
    "adadelta",
    reference,
    cases={
        "matrix": (step(5, 7), {}),
        "numbers": (step(40), {"rho": 0.5, "epsilon": 0.25}),
        # Trap: programs before PaddlePaddle 2 have no rate, which is then 1.
        "no rate": (old(step(5, 7)), {}),
        "first step": (step(9) | {"AvgSquaredGrad": np.zeros(9), "AvgSquaredUpdate": np.zeros(9)}, {}),
        "one element": (step(), {}),
        "no rows": (step(0, 4), {}),
    },
    refusals={
        **dense_only(step),
        "two rates": (step(3) | {"LearningRate": np.ones(2)}, {}, pm.ShapeError, "LearningRate [2] one element"),
    },
)
