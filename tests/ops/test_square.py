"""square: Out = X^2."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    with np.errstate(all="ignore"):
        return {"Out": inputs["X"] ** 2}


test_square = op_tests(
    "square",
    reference,
    cases={
        "matrix": ({"X": array(3, 4, low=-1, high=1)}, {}),
        "long": ({"X": array(1003, low=-1, high=1)}, {}),
        "one element": ({"X": array(low=-1, high=1)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    refusals={"selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows")},
)


test_whole_numbers = op_tests(
    "square", reference, cases={dtype: ({"X": ints(3, 5, low=-9, dtype=dtype)}, {}) for dtype in ("int32", "int64")}
)


SPECIAL = [0.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests("square", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})
