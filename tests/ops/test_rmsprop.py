"""rmsprop: steps of Grad / sqrt(mean of Grad^2), with momentum."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    p, s, m, grad = (inputs[port] for port in ("Param", "MeanSquare", "Moment", "Grad"))
    decay, momentum, epsilon = (np.float64(np.float32(attrs[name])) for name in ("decay", "momentum", "epsilon"))
    g = grad.dense() if isinstance(grad, Rows) else grad  # rows not named: gradient 0, averages decay
    s = decay * s + (1 - decay) * g * g
    mean = inputs.get("MeanGrad")
    spread = s
    if attrs["centered"]:
        mean = decay * mean + (1 - decay) * g
        spread = s - mean * mean
    m = momentum * m + inputs["LearningRate"].reshape(()) * g / np.sqrt(spread + epsilon)  # Trap: epsilon inside
    out = {"ParamOut": p - m, "MeanSquareOut": s, "MomentOut": m}
    return out if mean is None else out | {"MeanGradOut": mean}


def step(*shape, grad=None, mean=True):
    inputs = {
        "Param": array(*shape),
        "MeanSquare": array(*shape, low=0.5, seed=2),
        "Moment": array(*shape, seed=3),
        "Grad": array(*shape, seed=1) if grad is None else grad,
        "LearningRate": np.full(1, 0.25),
    }
    return inputs | {"MeanGrad": array(*shape, low=-0.5, high=0.5, seed=4)} if mean else inputs


ROWS = Rows([4, 0, 4], array(3, 20, low=-0.5, high=0.5), 6)

test_rmsprop = op_tests(
    "rmsprop",
    reference,
    cases={
        "plain": (step(5, 7), {"momentum": 0.5}),
        "no mean gradient": (step(5, 7, mean=False), {}),
        "centered": (step(5, 7), {"centered": True, "momentum": 0.5}),
        "large epsilon": (step(40), {"epsilon": 0.5, "decay": 0.25}),
        "one element": (step(), {}),
        "one element centered": (step(), {"centered": True}),
        "no rows": (step(0, 4), {}),
        "no rows centered": (step(0, 4), {"centered": True}),
        "selected rows": (step(6, 20, grad=ROWS), {"momentum": 0.5}),
        "selected rows centered": (step(6, 20, grad=ROWS), {"momentum": 0.5, "centered": True}),
        "no selected rows": (step(6, 3, grad=Rows([], array(0, 3), 6)), {"momentum": 0.5}),
    },
    refusals={
        "other shape": (step(3, grad=array(4)), {}, pm.ShapeError, "Param [3] Grad [4]"),
        "centered without mean": (step(3, mean=False), {"centered": True}, pm.ProgramError, "centered MeanGrad"),
        "other mean": (step(3) | {"MeanGrad": array(4)}, {}, pm.ShapeError, "Param [3] MeanGrad [4]"),
    },
)
