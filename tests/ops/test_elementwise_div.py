"""elementwise_div: Out = X / Y, whole numbers cut towards zero."""

import numpy as np

import paddle_mini as pm
from broadcast_cases import broadcast_cases, broadcast_refusals, operands, whole_number_cases
from harness import ints, op_tests, run_op


def reference(inputs, attrs):
    x, y = operands(inputs, attrs)
    return {"Out": x / y if x.dtype.kind == "f" else np.trunc(x / y).astype(x.dtype)}


test_elementwise_div = op_tests(
    "elementwise_div", reference, broadcast_cases(y=dict(low=0.5, high=2)), gradients=["X", "Y"], refusals=broadcast_refusals(pm)
)
test_whole_numbers = op_tests("elementwise_div", reference, whole_number_cases())


def test_division_by_zero():
    x = np.array([1.0, -1.0, 0.0])
    out = run_op("elementwise_div", {"X": x, "Y": np.zeros(3)})["Out"]
    np.testing.assert_array_equal(out, [np.inf, -np.inf, np.nan])


test_cutting = op_tests(
    "elementwise_div",
    reference,
    cases={"towards zero": ({"X": np.array([-7, 7]), "Y": np.array([2, -2])}, {})},
    refusals={"zero": ({"X": ints(3), "Y": np.array([1, 0, 2])}, {}, pm.OpError, "Y[1] 0")},
)


def test_the_smallest_whole_number_by_minus_one():
    lowest = np.array([np.iinfo("int64").min])
    np.testing.assert_array_equal(run_op("elementwise_div", {"X": lowest, "Y": np.array([-1])})["Out"], lowest)
