"""bitwise_and: Out = the bits that are 1 in X and in Y."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": inputs["X"] & inputs["Y"]}


KINDS = {
    dtype: ({"X": ints(4, 9, high=100, dtype=dtype), "Y": ints(9, high=100, dtype=dtype, seed=1)}, {})
    for dtype in ("int8", "uint8", "int16", "int32", "int64")
}
test_bitwise_and = op_tests(
    "bitwise_and",
    reference,
    cases={
        **KINDS,
        "bool": ({"X": ints(4, 9, high=2, dtype="bool"), "Y": ints(4, 9, high=2, dtype="bool", seed=1)}, {}),
        "below 0": ({"X": ints(300, low=-99, high=99), "Y": ints(300, low=-99, high=99, seed=1)}, {}),
        "both stretch": ({"X": ints(3, 1), "Y": ints(1, 5, seed=1)}, {}),
        "one element": ({"X": np.array(6), "Y": np.array(3)}, {}),
        "number on the left": ({"X": np.array(6), "Y": ints(2, 3)}, {}),
        "no rows": ({"X": ints(0, 4), "Y": ints(4)}, {}),
    },
    refusals={
        "other size": ({"X": ints(3, 4), "Y": ints(3)}, {}, pm.ShapeError, "X Y [3, 4] [3]"),
        "other dtype": ({"X": ints(3), "Y": ints(3, dtype="int32")}, {}, pm.ShapeError, "int64 int32"),
        "floating point": ({"X": array(3), "Y": array(3)}, {}, pm.Error, "float64"),
    },
)
