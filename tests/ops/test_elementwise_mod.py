"""elementwise_mod: Out = what is left of X after whole Ys."""

import numpy as np

import paddle_mini as pm
from broadcast_cases import broadcast_cases, broadcast_refusals, operands
from harness import ints, op_tests, run_op


def reference(inputs, attrs):
    x, y = operands(inputs, attrs)
    with np.errstate(all="ignore"):
        return {"Out": np.mod(x, y)}


CASES = broadcast_cases(x={"low": -9, "high": 9}, y={"low": 1, "high": 2})

test_elementwise_mod = op_tests(
    "elementwise_mod",
    reference,
    CASES,
    refusals={
        **broadcast_refusals(pm),
        "whole number by 0": ({"X": ints(3), "Y": np.array([1, 0, 2])}, {}, pm.OpError, "Y[1] is 0"),
    },
)

test_whole_numbers = op_tests(
    "elementwise_mod",
    reference,
    cases={
        dtype: (
            {
                "X": ints(40, 5, low=0 if dtype == "uint8" else -99, high=99, dtype=dtype),
                "Y": ints(40, 5, low=1 if dtype == "uint8" else -7, high=0 if dtype != "uint8" else 9, dtype=dtype),
            },
            {},
        )
        for dtype in ("int32", "int64")
    },
)
test_whole_numbers_above_0 = op_tests(
    "elementwise_mod",
    reference,
    cases={
        dtype: ({"X": ints(40, 5, low=-99, high=99, dtype=dtype), "Y": ints(5, low=1, high=9, dtype=dtype)}, {})
        for dtype in ("int32", "int64")
    },
)

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, -0.7, 3.0, 1.0e10, np.inf, -np.inf, np.nan]
test_special_values = op_tests(
    "elementwise_mod", reference, cases={"each with each": ({"X": np.reshape(SPECIAL, (11, 1)), "Y": np.array(SPECIAL)}, {})}
)


def test_the_smallest_whole_number_by_minus_one():
    for dtype in ("int32", "int64"):
        x, y = np.array([np.iinfo(dtype).min, 7, -7], dtype), np.array([-1, -1, -1], dtype)
        np.testing.assert_array_equal(run_op("elementwise_mod", {"X": x, "Y": y})["Out"], [0, 0, 0])
