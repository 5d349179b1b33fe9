"""logical_not: Out = whether X is not true."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.logical_not(inputs["X"])}


test_logical_not = op_tests(
    "logical_not",
    reference,
    cases={
        "matrix": ({"X": ints(3, 4, high=2, dtype="bool")}, {}),
        "long": ({"X": ints(1003, high=2, dtype="bool")}, {}),
        "one element": ({"X": np.array(True)}, {}),
        "no rows": ({"X": np.zeros((0, 4), bool)}, {}),
        "numbers": ({"X": np.array([0.0, -0.0, 0.5, np.nan, np.inf])}, {}),
    },
    refusals={"selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows")},
)

KINDS = {dtype: ({"X": ints(4, 9, high=2, dtype=dtype)}, {}) for dtype in ("int8", "int16", "int32", "int64", "bool")}
test_kinds = op_tests("logical_not", reference, cases=KINDS)
