"""adagrad: MomentOut = Moment + Grad^2; ParamOut = Param - LearningRate * Grad / (sqrt(MomentOut) + epsilon)."""

import numpy as np

import paddle_mini as pm
from families.updates import other_shape, steps
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    param, grad, moment, rate = (inputs[port] for port in ("Param", "Grad", "Moment", "LearningRate"))
    # Rows that the gradient does not name: gradient 0 has no effect, and for a row named twice the sum is squared.
    g = grad.dense() if isinstance(grad, Rows) else grad
    moment = moment + g * g
    with np.errstate(invalid="ignore"):
        move = np.where(g == 0, 0, rate.reshape(()) * g / (np.sqrt(moment) + attrs["epsilon"]))
    return {"ParamOut": param - move, "MomentOut": moment}


step = steps(0.25, Moment=dict(low=0, seed=2))

test_adagrad = op_tests(
    "adagrad",
    reference,
    cases={
        "matrix": (step(5, 7), {}),
        "epsilon": (step(40), {"epsilon": 0.5}),
        "rate without dimensions": (step(9, LearningRate=np.full((), 0.25)), {}),
        "one element": (step(), {}),
        "no rows": (step(0, 4), {}),
        "selected rows": (step(6, 20, grad=Rows([4, 0, 4], array(3, 20), 6)), {}),
        # Trap: epsilon 0 and moment 0 would give 0 / 0 in rows that are not named.
        "rows not named are not read": (
            step(6, 3, grad=Rows([1], array(1, 3), 6)) | {"Moment": np.zeros((6, 3))},
            {"epsilon": 0.0},
        ),
        "no selected rows": (step(6, 3, grad=Rows([], array(0, 3), 6)), {}),
    },
    refusals={
        **other_shape(step),
        "other table": (step(6, 3, grad=Rows([2], array(1, 3), 7)), {}, pm.ShapeError, "Param Grad [7, 3]"),
        "two rates": (step(3, LearningRate=np.full(2, 0.25)), {}, pm.ShapeError, "LearningRate [2] one element"),
        "other moment": (step(3) | {"Moment": array(3).astype("float32")}, {}, pm.ShapeError, "Moment float32"),
        "rows as parameter": (step(6, 3) | {"Param": Rows([2], array(1, 3), 6)}, {}, pm.ShapeError, "Param selected rows tensor"),
    },
)
