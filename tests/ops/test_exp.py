"""exp: Out = e^X."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    with np.errstate(all="ignore"):
        return {"Out": np.exp(inputs["X"])}


test_exp = op_tests(
    "exp",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-3, high=3)}, {}),
        "long": ({"X": array(1003, low=-3, high=3)}, {}),
        "one element": ({"X": array(low=-3, high=3)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "truth": ({"X": ints(3, 4) > 5}, {}, pm.Error, "bool"),
    },
)


SPECIAL = [0.0, np.inf, -np.inf, np.nan, 87.0, -87.0, 2000.0, -2000.0]
test_special_values = op_tests(
    "exp",
    reference,
    cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})},
    tolerance={"float32": 1e-5},  # of e^87
)
