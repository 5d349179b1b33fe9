"""elementwise_div: Out = X / Y, integers truncated towards zero."""

import numpy as np

import paddle_mini as pm
from families.binary import binary_tests, integer_cases
from harness import ints, run_op


def divided(x, y):
    return x / y if x.dtype.kind == "f" else np.trunc(x / y).astype(x.dtype)


test_elementwise_div = binary_tests(
    "elementwise_div",
    divided,
    y=(0.5, 2),
    values_only={**integer_cases(), "towards zero": ({"X": np.array([-7, 7]), "Y": np.array([2, -2])}, {})},
    refusals={"zero": ({"X": ints(3), "Y": np.array([1, 0, 2])}, {}, pm.OpError, "Y[1] 0")},
)


def test_division_by_zero():
    x = np.array([1.0, -1.0, 0.0])
    out = run_op("elementwise_div", {"X": x, "Y": np.zeros(3)})["Out"]
    np.testing.assert_array_equal(out, [np.inf, -np.inf, np.nan])


def test_the_smallest_whole_number_by_minus_one():
    lowest = np.array([np.iinfo("int64").min])
    np.testing.assert_array_equal(run_op("elementwise_div", {"X": lowest, "Y": np.array([-1])})["Out"], lowest)
