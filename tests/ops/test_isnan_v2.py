"""isnan_v2: Out = whether X is NaN."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.isnan(inputs["X"])}


SPECIAL = [0.0, -0.0, 1.0, -1.0e30, np.inf, -np.inf, np.nan]
test_isnan_v2 = op_tests(
    "isnan_v2",
    reference,
    cases={
        "special values": ({"X": np.resize(SPECIAL, 37)}, {}),
        "matrix": ({"X": np.resize(SPECIAL, (5, 4))}, {}),
        "one element": ({"X": np.array(np.nan)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "int32": ({"X": ints(3, 4, dtype="int32")}, {}),
        "int64": ({"X": ints(3, 4)}, {}),
    },
    refusals={
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "bool": ({"X": np.array([True])}, {}, pm.Error, "bool"),
    },
)
