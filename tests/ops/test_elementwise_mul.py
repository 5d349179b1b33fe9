"""elementwise_mul: Out = X Y."""

import numpy as np

import paddle_mini as pm
from families.binary import binary_tests
from harness import Rows, array, op_tests

test_elementwise_mul = binary_tests("elementwise_mul", np.multiply)


def rows_reference(inputs, attrs):
    x = inputs["X"]
    return {"Out": Rows(x.rows, x.values * np.reshape(inputs["Y"], ()), x.height)}


test_rows = op_tests(
    "elementwise_mul",
    rows_reference,
    cases={
        "rows that repeat": ({"X": Rows([4, 1, 4], array(3, 5), 6), "Y": array(1)}, {}),
        "factor without dimensions": ({"X": Rows([4, 1], array(2, 5), 6), "Y": array()}, {}),
        "no rows": ({"X": Rows([], array(0, 5), 6), "Y": array(1)}, {}),
    },
    refusals={"two factors": ({"X": Rows([1], array(1, 2), 6), "Y": array(2)}, {}, pm.ShapeError, "Y [2] one element")},
)
