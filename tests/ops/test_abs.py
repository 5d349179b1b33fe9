"""abs: Out = |X|."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    with np.errstate(all="ignore"):
        return {"Out": np.abs(inputs["X"])}


test_abs = op_tests(
    "abs",
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
    "abs", reference, cases={dtype: ({"X": ints(3, 5, low=-9, dtype=dtype)}, {}) for dtype in ("int32", "int64")}
)


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests("abs", reference, cases={"special values": ({"X": np.resize(SPECIAL, 37)}, {})})


def test_gradient_at_zero():
    found = run_op("abs_grad", {"X": np.array([-2.0, 0.0, 2.0]), "Out@GRAD": np.array([3.0, 4.0, 5.0])})
    np.testing.assert_array_equal(found["X@GRAD"], [-3, 0, 5])
