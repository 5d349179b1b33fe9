"""elementwise_floordiv: Out = floor(X / Y)."""

import numpy as np

from families.binary import BY_ZERO, binary_tests, division_cases, each_with_each_broadcast
from harness import run_op

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, -0.7, 3.0, 1.0e10, np.inf, -np.inf, np.nan]
test_elementwise_floordiv = binary_tests(
    "elementwise_floordiv",
    np.floor_divide,
    x=(-9, 9),
    y=(1, 2),
    gradients=(),
    values_only={**division_cases("int8", "uint8", "int16", "int32", "int64"), **each_with_each_broadcast(SPECIAL)},
    refusals=BY_ZERO,
)


def test_the_smallest_whole_number_by_minus_one():
    for dtype in ("int8", "int16", "int32", "int64"):
        lowest = np.iinfo(dtype).min
        x, y = np.array([lowest, 7, -7], dtype), np.array([-1, -1, -1], dtype)
        np.testing.assert_array_equal(run_op("elementwise_floordiv", {"X": x, "Y": y})["Out"], [lowest, -7, 7])


def test_the_largest_byte():
    x, y = np.array([255, 254, 255], "uint8"), np.array([255, 255, 2], "uint8")
    np.testing.assert_array_equal(run_op("elementwise_floordiv", {"X": x, "Y": y})["Out"], [1, 0, 127])
