"""decayed_adagrad: MomentOut = decay Moment + (1 - decay) Grad^2; steps of Grad / (sqrt(MomentOut) + epsilon)."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    decay, epsilon = (np.float64(np.float32(attrs[name])) for name in ("decay", "epsilon"))
    g = inputs["Grad"]
    moment = decay * inputs["Moment"] + (1 - decay) * g * g
    move = inputs["LearningRate"].reshape(()) * g / (np.sqrt(moment) + epsilon)
    return {"ParamOut": inputs["Param"] - move, "MomentOut": moment}


def step(*shape, grad=None):
    return {
        "Param": array(*shape),
        "Grad": array(*shape, seed=1) if grad is None else grad,
        "Moment": array(*shape, low=0.25, seed=2),
        "LearningRate": np.full(1, 0.25),
    }


test_decayed_adagrad = op_tests(
    "decayed_adagrad",
    reference,
    cases={
        "matrix": (step(5, 7), {}),
        "numbers": (step(40), {"decay": 0.25, "epsilon": 0.5}),
        "one element": (step(), {}),
        "no rows": (step(0, 4), {}),
    },
    refusals={
        "other shape": (step(3, grad=array(4)), {}, pm.ShapeError, "Param [3] Grad [4]"),
        "selected rows": (step(6, 3, grad=Rows([2], array(1, 3), 6)), {}, pm.ShapeError, "Grad selected rows tensor"),
    },
)
