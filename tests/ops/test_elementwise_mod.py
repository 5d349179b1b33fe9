"""elementwise_mod: Out = the remainder of X / Y."""

import numpy as np

from families.binary import BY_ZERO, binary_tests, division_cases, each_with_each_broadcast
from harness import run_op

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, -0.7, 3.0, 1.0e10, np.inf, -np.inf, np.nan]
test_elementwise_mod = binary_tests(
    "elementwise_mod",
    np.mod,
    x=(-9, 9),
    y=(1, 2),
    gradients=(),
    values_only={**division_cases("int32", "int64"), **each_with_each_broadcast(SPECIAL)},
    refusals=BY_ZERO,
)


def test_the_smallest_whole_number_by_minus_one():
    for dtype in ("int32", "int64"):
        x, y = np.array([np.iinfo(dtype).min, 7, -7], dtype), np.array([-1, -1, -1], dtype)
        np.testing.assert_array_equal(run_op("elementwise_mod", {"X": x, "Y": y})["Out"], [0, 0, 0])
