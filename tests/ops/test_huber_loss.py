"""huber_loss: with r = Y - X, Out = r^2 / 2 where |r| <= delta, else delta (|r| - delta / 2)."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    r, delta = inputs["Y"] - inputs["X"], attrs["delta"]  # Trap: not X - Y
    return {"Out": np.where(np.abs(r) <= delta, r * r / 2, delta * (np.abs(r) - delta / 2)), "Residual": r}


def pair(*shape):
    return {"X": array(*shape, low=-2, high=2), "Y": array(*shape, low=-2, high=2, seed=1)}


test_huber_loss = op_tests(
    "huber_loss",
    reference,
    cases={
        "column": (pair(40, 1), {"delta": 1.0}),
        "half": (pair(3, 5), {"delta": 0.5}),
        "one element": (pair(), {"delta": 1.0}),
        "no rows": (pair(0, 1), {"delta": 1.0}),
    },
    gradients=["X", "Y"],
    gradient_of=["Out"],
    refusals={
        "another shape": ({"X": array(3, 1), "Y": array(3)}, {"delta": 1.0}, pm.ShapeError, "X [3, 1] Y [3]"),
        "int targets": ({"X": array(3), "Y": ints(3)}, {"delta": 1.0}, pm.ShapeError, "Y int64"),
        "no delta": (pair(3), {}, pm.ProgramError, "delta"),
    },
)
