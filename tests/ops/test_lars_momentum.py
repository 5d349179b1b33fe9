"""lars_momentum: momentum with a separate rate for each parameter, from the norms of it and its gradient."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    count = len(inputs["Param"])
    all_of = lambda values: list(values) * (count if len(values) == 1 else 1)
    mu, coefficient, epsilon = (np.float64(np.float32(attrs[name])) for name in ("mu", "lars_coeff", "epsilon"))
    out = {"ParamOut": [], "VelocityOut": []}
    rows = (
        inputs["Param"],
        inputs["Grad"],
        inputs["Velocity"],
        all_of(inputs["LearningRate"]),
        all_of(attrs["lars_weight_decay"]),
    )
    for p, g, v, rate, decay in zip(*rows):
        rate, decay, g = rate.reshape(()), np.float64(np.float32(decay)), attrs["rescale_grad"] * g
        norms = np.sqrt(np.sum(p * p)), np.sqrt(np.sum(g * g))
        if decay > 0 and min(norms) > 0:
            rate = rate * coefficient * norms[0] / (norms[1] + decay * norms[0] + epsilon)
        v = mu * v + rate * (g + decay * p)
        out["ParamOut"].append(p - v)  # Trap: the rate is in the velocity
        out["VelocityOut"].append(v)
    return out


def step(*shapes, rates=1, **more):
    return {
        "Param": [array(*shape) for shape in shapes],
        "Grad": [array(*shape, seed=1) for shape in shapes],
        "Velocity": [array(*shape, seed=2) for shape in shapes],
        "LearningRate": [np.full(1, 0.25 / (i + 1)) for i in range(rates)],
        **more,
    }


SEVERAL = [(5, 7), (40,), ()]

test_lars_momentum = op_tests(
    "lars_momentum",
    reference,
    cases={
        "one parameter": (step((5, 7)), {"mu": 0.5}),
        "several": (step(*SEVERAL), {"mu": 0.5, "lars_coeff": 0.5, "epsilon": 0.25, "lars_weight_decay": [0.125]}),
        "each its own": (step(*SEVERAL, rates=3), {"mu": 0.5, "lars_coeff": 0.5, "lars_weight_decay": [0.5, 0, 0.125]}),
        "rescaled": (step((40,)), {"mu": 0.5, "lars_coeff": 0.5, "rescale_grad": 0.25}),
        "norm 0": (step((9,), Param=[np.zeros(9)]), {"mu": 0.5}),
        "one element": (step(()), {"mu": 0.5}),
        "no rows": (step((0, 4), (3,)), {"mu": 0.5}),
    },
    refusals={
        "other shape": (step((3,), Grad=[array(4)]), {"mu": 0.5}, pm.ShapeError, "Param [3] Grad [4]"),
        "fewer gradients": (step((3,), (3,), Grad=[array(3)]), {"mu": 0.5}, pm.ProgramError, "Grad 1 Param 2"),
        "two rates": (step(*SEVERAL, rates=2), {"mu": 0.5}, pm.ProgramError, "LearningRate 2 Param 3"),
        "two decays": (step((3,)), {"mu": 0.5, "lars_weight_decay": [0.5, 0.5]}, pm.ProgramError, "lars_weight_decay 2"),
        "no decays": (step((3,)), {"mu": 0.5, "lars_weight_decay": []}, pm.ProgramError, "lars_weight_decay 0"),
        "selected rows": (step((6, 3), Grad=[Rows([2], array(1, 3), 6)]), {"mu": 0.5}, pm.ShapeError, "selected rows"),
        "no mu": (step((3,)), {}, pm.ProgramError, "mu missing"),
    },
)
