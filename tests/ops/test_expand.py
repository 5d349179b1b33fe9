"""expand: X repeated along its axes."""

import paddle_mini as pm
from families.shapes import repeat_tests
from harness import array

test_expand, test_numbers = repeat_tests(
    "expand",
    "expand_times",
    refusals={"fewer numbers": ({"X": array(3, 4)}, {"expand_times": [2]}, pm.ShapeError, "expand_times 1 2")},
)
