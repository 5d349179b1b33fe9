"""elementwise_mul: Out = X Y."""

import numpy as np

import paddle_mini as pm
from broadcast_cases import broadcast_cases, broadcast_refusals, operands, whole_number_cases
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    x, y = operands(inputs, attrs)
    return {"Out": x * y}


test_elementwise_mul = op_tests(
    "elementwise_mul", reference, broadcast_cases(), gradients=["X", "Y"], refusals=broadcast_refusals(pm)
)
test_whole_numbers = op_tests("elementwise_mul", reference, whole_number_cases())


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
