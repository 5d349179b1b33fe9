"""hard_sigmoid: Out = min(max(slope X + offset, 0), 1)."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    with np.errstate(all="ignore"):
        return {"Out": np.minimum(np.maximum(x * attrs["slope"] + attrs["offset"], 0), 1)}


test_hard_sigmoid = op_tests(
    "hard_sigmoid",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-4, high=4)}, {}),
        "long": ({"X": array(1003, low=-4, high=4)}, {}),
        "one element": ({"X": array(low=-4, high=4)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "attributes": ({"X": array(7, 33, low=-4, high=4)}, {"slope": 0.25, "offset": 0.75}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "whole numbers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 100.0, -100.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests("hard_sigmoid", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
