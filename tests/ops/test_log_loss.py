"""log_loss: Loss = -(Labels log(Predicted + epsilon) + (1 - Labels) log(1 - Predicted + epsilon))."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    p, label, e = inputs["Predicted"], inputs["Labels"], float(np.float32(attrs["epsilon"]))
    return {"Loss": -label * np.log(p + e) - (1 - label) * np.log(1 - p + e)}


def pair(*shape):
    return {"Predicted": array(*shape, low=0.05, high=0.95), "Labels": array(*shape, low=0, high=1, seed=1)}


test_log_loss = op_tests(
    "log_loss",
    reference,
    cases={
        "column": (pair(20, 1), {"epsilon": 1e-4}),
        "at the ends": ({"Predicted": np.array([0.0, 1.0]), "Labels": np.array([1.0, 0.0])}, {"epsilon": 0.01}),
        "one element": (pair(), {"epsilon": 0.1}),
        "no rows": (pair(0, 1), {"epsilon": 1e-4}),
    },
    gradients=["Predicted"],
    refusals={
        "another shape": (
            {"Predicted": array(3, 1), "Labels": array(4, 1)},
            {"epsilon": 1e-4},
            pm.ShapeError,
            "Predicted [3, 1] Labels [4, 1]",
        ),
        "no epsilon": (pair(2, 1), {}, pm.ProgramError, "epsilon"),
    },
)
