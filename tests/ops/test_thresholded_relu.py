"""thresholded_relu: Out = X where X > threshold, else 0."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    with np.errstate(all="ignore"):
        return {"Out": np.where(x <= attrs["threshold"], 0, x)}


test_thresholded_relu = op_tests(
    "thresholded_relu",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-3, high=3)}, {}),
        "long": ({"X": array(1003, low=-3, high=3)}, {}),
        "one element": ({"X": array(low=-3, high=3)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "attributes": ({"X": array(7, 33, low=-3, high=3)}, {"threshold": 0.25}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "whole numbers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 100.0, -100.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests("thresholded_relu", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
