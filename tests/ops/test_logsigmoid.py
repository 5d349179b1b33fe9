"""logsigmoid: Out = log(1 / (1 + exp(-X)))."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    with np.errstate(all="ignore"):
        return {"Out": -np.logaddexp(0, -x)}


test_logsigmoid = op_tests(
    "logsigmoid",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-4, high=4)}, {}),
        "long": ({"X": array(1003, low=-4, high=4)}, {}),
        "one element": ({"X": array(low=-4, high=4)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "whole numbers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 100.0, -100.0, 800.0, -800.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests("logsigmoid", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
