"""label_smooth: Out = (1 - epsilon) X + epsilon PriorDist."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    x, e = inputs["X"], np.float64(np.float32(attrs["epsilon"]))
    prior = inputs["PriorDist"].reshape(-1) if "PriorDist" in inputs else 1 / max(1, x.shape[-1])
    return {"Out": (1 - e) * x + e * prior}


test_label_smooth = op_tests(
    "label_smooth",
    reference,
    cases={
        "all alike": ({"X": array(5, 7)}, {"epsilon": 0.1}),
        "three axes": ({"X": array(2, 3, 20)}, {"epsilon": 0.25}),
        "prior": ({"X": array(5, 7), "PriorDist": array(1, 7, low=0)}, {"epsilon": 0.1}),
        "prior of one axis": ({"X": array(5, 7), "PriorDist": array(7, low=0)}, {"epsilon": 0.1}),
        "nothing": ({"X": array(5, 7)}, {}),
        "one element": ({"X": array(1)}, {"epsilon": 0.1}),
        "no rows": ({"X": array(0, 4), "PriorDist": array(1, 4)}, {"epsilon": 0.1}),
        "no classes": ({"X": array(4, 0)}, {"epsilon": 0.1}),
    },
    gradients=["X"],
    refusals={
        "no dimensions": ({"X": array()}, {}, pm.ShapeError, "no dimensions"),
        "prior too short": ({"X": array(5, 7), "PriorDist": array(1, 6)}, {}, pm.ShapeError, "PriorDist [1, 6] 7"),
        "too much": ({"X": array(5, 7)}, {"epsilon": 1.5}, pm.ProgramError, "epsilon 1.5"),
    },
)
