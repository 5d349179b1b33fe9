"""bitwise_not: Out = the bits that are 0 in X."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": ~inputs["X"]}


KINDS = {dtype: ({"X": ints(4, 9, high=100, dtype=dtype)}, {}) for dtype in ("int8", "uint8", "int16", "int32", "int64")}
test_bitwise_not = op_tests(
    "bitwise_not",
    reference,
    cases={
        **KINDS,
        "bool": ({"X": ints(4, 9, high=2, dtype="bool")}, {}),
        "below 0": ({"X": ints(300, low=-99, high=99)}, {}),
        "one element": ({"X": np.array(6)}, {}),
        "no rows": ({"X": ints(0, 4)}, {}),
    },
    refusals={"floating point": ({"X": array(3)}, {}, pm.Error, "float64")},
)
