"""atan2: Out = the angle of the point (X2, X1)."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests

AXES = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])

test_atan2 = op_tests(
    "atan2",
    lambda inputs, attrs: {"Out": np.arctan2(inputs["X1"], inputs["X2"])},
    cases={
        "matrix": ({"X1": array(3, 4), "X2": array(3, 4, seed=1)}, {}),
        "long": ({"X1": array(1003), "X2": array(1003, seed=1)}, {}),
        "one element": ({"X1": array(), "X2": array(seed=1)}, {}),
        "nothing": ({"X1": array(0, 2), "X2": array(0, 2)}, {}),
    },
    gradients=["X1", "X2"],
    values_only={
        "integers": ({"X1": ints(3, low=-4), "X2": ints(3, low=-4, seed=1)}, {}),
        "all quadrants": ({"X1": np.repeat(AXES, 7), "X2": np.tile(AXES, 7)}, {}),
    },
    refusals={
        "other shape": ({"X1": array(3), "X2": array(1)}, {}, pm.ShapeError, "X1 [3] X2 [1]"),
        "bool": ({"X1": ints(2) > 5, "X2": ints(2) > 5}, {}, pm.Error, "bool"),
    },
)
