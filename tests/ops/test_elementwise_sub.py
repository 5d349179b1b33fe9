"""elementwise_sub: Out = X - Y; minus: the same for one shape."""

import numpy as np

import paddle_mini as pm
from families.binary import binary_tests
from harness import Rows, array, ints, op_tests

test_elementwise_sub = binary_tests("elementwise_sub", np.subtract)

test_minus = op_tests(
    "minus",
    lambda inputs, attrs: {"Out": inputs["X"] - inputs["Y"]},
    cases={
        "matrices": ({"X": array(3, 4), "Y": array(3, 4)}, {}),
        "long": ({"X": array(1003), "Y": array(1003)}, {}),
        "one element": ({"X": array(), "Y": array()}, {}),
        "no rows": ({"X": array(0, 4), "Y": array(0, 4)}, {}),
    },
    gradients=["X", "Y"],
    values_only={"int64": ({"X": ints(3, 4), "Y": ints(3, 4)}, {})},
    refusals={
        "two shapes": ({"X": array(3, 4), "Y": array(4)}, {}, pm.ShapeError, "X [3, 4] Y [4]"),
        "two types": ({"X": array(3), "Y": array(3).astype("float32")}, {}, pm.ShapeError, "float32 float64"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3), "Y": array(3, 2)}, {}, pm.ShapeError, "X selected rows"),
    },
)
