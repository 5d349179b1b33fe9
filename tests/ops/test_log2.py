"""log2: Out = log2(X)."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    with np.errstate(all="ignore"):
        return {"Out": np.log2(x)}


test_log2 = op_tests(
    "log2",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=0.5, high=3)}, {}),
        "long": ({"X": array(1003, low=0.5, high=3)}, {}),
        "one element": ({"X": array(low=0.5, high=3)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "truth": ({"X": ints(3, 4) > 5}, {}, pm.Error, "bool"),
    },
)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 1.0e10, np.inf, -np.inf, np.nan]
test_special_values = op_tests("log2", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
