"""logical_xor: Out = whether one of X and Y is true, the other is not."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.logical_xor(inputs["X"], inputs["Y"])}


test_logical_xor = op_tests(
    "logical_xor",
    reference,
    cases={
        "matrix": ({"X": ints(3, 4, high=2, dtype="bool"), "Y": ints(3, 4, high=2, dtype="bool", seed=1)}, {}),
        "long": ({"X": ints(1003, high=2, dtype="bool"), "Y": ints(1003, high=2, dtype="bool", seed=1)}, {}),
        "one element": ({"X": np.array(True), "Y": np.array(False)}, {}),
        "no rows": ({"X": np.zeros((0, 4), bool), "Y": np.zeros(4, bool)}, {}),
        "numbers": ({"X": np.array([0.0, -0.0, 0.5, np.nan, np.inf]), "Y": np.array([0.0, 1.0, 0.0, 2.0, -0.0])}, {}),
        "stretched": ({"X": ints(5, 1, 4, high=2, dtype="bool"), "Y": ints(3, 1, high=2, dtype="bool", seed=1)}, {}),
        "numbers, stretched": ({"X": np.array([[0.0], [-0.0], [np.nan]]), "Y": np.array([0.0, 1.0, np.nan])}, {}),
        "number on the left": ({"X": np.array(3), "Y": ints(2, 3, high=2)}, {}),
    },
    refusals={
        "other size": ({"X": ints(3, 4), "Y": ints(3)}, {}, pm.ShapeError, "X Y [3, 4] [3]"),
        "other dtype": ({"X": ints(3), "Y": ints(3, dtype="int32")}, {}, pm.ShapeError, "int64 int32"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3), "Y": array(3, 2)}, {}, pm.ShapeError, "X selected rows"),
    },
)

KINDS = {
    dtype: ({"X": ints(4, 9, high=2, dtype=dtype), "Y": ints(4, 9, high=2, dtype=dtype, seed=1)}, {})
    for dtype in ("int8", "int16", "int32", "int64", "bool")
}
test_kinds = op_tests("logical_xor", reference, cases=KINDS)
