"""elementwise_pow: Out = X to the power of Y."""

import numpy as np

import paddle_mini as pm
from broadcast_cases import broadcast_cases, broadcast_refusals, operands
from harness import ints, op_tests, run_op


def reference(inputs, attrs):
    x, y = operands(inputs, attrs)
    with np.errstate(all="ignore"):
        return {"Out": np.power(x, y)}


test_elementwise_pow = op_tests(
    "elementwise_pow",
    reference,
    broadcast_cases(x={"low": 0.5, "high": 2}, y={"low": -2, "high": 2}),
    gradients=["X", "Y"],
    refusals=broadcast_refusals(pm),
)

test_whole_numbers = op_tests(
    "elementwise_pow",
    reference,
    cases={
        dtype: ({"X": ints(3, 5, low=-9, high=9, dtype=dtype), "Y": ints(5, high=6, dtype=dtype)}, {})
        for dtype in ("int32", "int64")
    },
)

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -0.5, np.inf, -np.inf, np.nan]
test_special_values = op_tests(
    "elementwise_pow", reference, cases={"each with each": ({"X": np.reshape(SPECIAL, (9, 1)), "Y": np.array(SPECIAL)}, {})}
)


def test_whole_numbers_to_a_power_below_0():
    for dtype in ("int32", "int64"):
        lowest = np.iinfo(dtype).min
        x, y = np.array([1, -1, -1, 0, 7, lowest], dtype), np.array([-3, -3, -4, -1, -1, lowest], dtype)
        np.testing.assert_array_equal(run_op("elementwise_pow", {"X": x, "Y": y})["Out"], [1, -1, 1, 0, 0, 0])
