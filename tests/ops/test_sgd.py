"""sgd: ParamOut = Param - LearningRate * Grad."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    grad = inputs["Grad"]
    param = inputs["Param"].copy()
    rate = inputs["LearningRate"].reshape(())
    if isinstance(grad, Rows):
        for row, value in zip(grad.rows, grad.values):
            param[row] -= rate * value
    else:
        param -= rate * grad
    return {"ParamOut": param}


def step(param, grad, rate=0.5, shape=(1,)):
    return {"Param": param, "Grad": grad, "LearningRate": np.full(shape, rate)}


test_sgd = op_tests(
    "sgd",
    reference,
    cases={
        "matrix": (step(array(5, 7), array(5, 7, seed=1)), {}),
        "rate without dimensions": (step(array(40), array(40, seed=1), shape=()), {}),
        "one element": (step(array(), array(seed=1)), {}),
        "no rows": (step(array(0, 4), array(0, 4)), {}),
        "selected rows": (step(array(6, 20), Rows([4, 0], array(2, 20), 6)), {}),
        "rows that repeat": (step(array(6, 3), Rows([2, 5, 2, 2], array(4, 3), 6)), {}),
        "no selected rows": (step(array(6, 3), Rows([], array(0, 3), 6)), {}),
    },
    refusals={
        "other shape": (step(array(3), array(4)), {}, pm.ShapeError, "Param [3] Grad [4]"),
        "two rates": (step(array(3), array(3), shape=(2,)), {}, pm.ShapeError, "LearningRate [2] one element"),
        "other table": (step(array(6, 3), Rows([2], array(1, 3), 7)), {}, pm.ShapeError, "Param Grad [7, 3]"),
        "other dtype": (step(array(3), array(3).astype("float32")), {}, pm.ShapeError, "float32"),
    },
)
