"""hard_swish: Out = X min(max(X + offset, 0), threshold) / scale."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    with np.errstate(all="ignore"):
        return {"Out": x * np.minimum(np.maximum(x + attrs["offset"], 0), attrs["threshold"]) / attrs["scale"]}


test_hard_swish = op_tests(
    "hard_swish",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-5, high=5)}, {}),
        "long": ({"X": array(1003, low=-5, high=5)}, {}),
        "one element": ({"X": array(low=-5, high=5)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "attributes": ({"X": array(7, 33, low=-5, high=5)}, {"threshold": 4.0, "scale": 5.0, "offset": 2.0}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "whole numbers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
        "scale 0": ({"X": array(3)}, {"scale": 0.0}, pm.ProgramError, "scale 0"),
    },
)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 100.0, -100.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests("hard_swish", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
