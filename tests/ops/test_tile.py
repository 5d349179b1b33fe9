"""tile: X repeated along its axes."""

from families.shapes import repeat_tests
from harness import array

test_tile, test_numbers = repeat_tests(
    "tile",
    "repeat_times",
    cases={
        "new axes": ({"X": array(3)}, {"repeat_times": [2, 1, 2]}),
        "fewer": ({"X": array(2, 3)}, {"repeat_times": [2]}),
        "a number": ({"X": array()}, {"repeat_times": [2]}),
    },
)
