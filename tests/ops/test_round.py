"""round: Out = the whole number nearest to X, halves away from zero."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    with np.errstate(all="ignore"):
        whole = np.trunc(x)
        out = whole + np.sign(x) * (np.abs(x - whole) >= 0.5)
        return {"Out": np.where(np.isfinite(x), out, x)}


test_round = op_tests(
    "round",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-5, high=5)}, {}),
        "long": ({"X": array(1003, low=-5, high=5)}, {}),
        "one element": ({"X": array(low=-5, high=5)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "whole numbers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)


SPECIAL = [0.0, -0.0, 1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 1.0e10, -1.0e10, np.inf, -np.inf, np.nan]
test_special_values = op_tests("round", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
