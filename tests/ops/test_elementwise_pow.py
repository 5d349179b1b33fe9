"""elementwise_pow: Out = X to the power of Y."""

import numpy as np

from families.binary import binary_tests, each_with_each_broadcast, integer_cases
from harness import run_op

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -0.5, np.inf, -np.inf, np.nan]
test_elementwise_pow = binary_tests(
    "elementwise_pow",
    np.power,
    x=(0.5, 2),
    y=(-2, 2),
    values_only={**integer_cases(x=(-9, 9), y=(0, 6)), **each_with_each_broadcast(SPECIAL)},
)


def test_whole_numbers_to_a_power_below_0():
    for dtype in ("int32", "int64"):
        lowest = np.iinfo(dtype).min
        x, y = np.array([1, -1, -1, 0, 7, lowest], dtype), np.array([-3, -3, -4, -1, -1, lowest], dtype)
        np.testing.assert_array_equal(run_op("elementwise_pow", {"X": x, "Y": y})["Out"], [1, -1, 1, 0, 0, 0])
