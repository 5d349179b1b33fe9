"""expm1: Out = exp(X) - 1."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    with np.errstate(all="ignore"):
        return {"Out": np.expm1(x)}


test_expm1 = op_tests(
    "expm1",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-2, high=2)}, {}),
        "long": ({"X": array(1003, low=-2, high=2)}, {}),
        "one element": ({"X": array(low=-2, high=2)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "truth": ({"X": ints(3, 4) > 5}, {}, pm.Error, "bool"),
    },
)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 1.0e-10, 800.0, -800.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests("expm1", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
