"""trunc: Out = X without its fraction."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    with np.errstate(all="ignore"):
        return {"Out": np.trunc(x)}


test_trunc = op_tests(
    "trunc",
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
        "truth": ({"X": ints(3, 4) > 5}, {}, pm.Error, "bool"),
    },
)


test_whole_numbers = op_tests(
    "trunc", reference, {dtype: ({"X": ints(3, 4, low=-9, dtype=dtype)}, {}) for dtype in ("int32", "int64")}
)

SPECIAL = [0.0, -0.0, 1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 1.0e10, -1.0e10, np.inf, -np.inf, np.nan]
test_special_values = op_tests("trunc", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
