"""tile: X repeated along its axes."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.tile(inputs["X"], attrs["repeat_times"])}


test_tile = op_tests(
    "tile",
    reference,
    cases={
        "rows": ({"X": array(2, 3)}, {"repeat_times": [3, 1]}),
        "last axis": ({"X": array(2, 3)}, {"repeat_times": [1, 2]}),
        "both": ({"X": array(2, 3, 2)}, {"repeat_times": [2, 1, 3]}),
        "new axes": ({"X": array(3)}, {"repeat_times": [2, 1, 2]}),
        "fewer": ({"X": array(2, 3)}, {"repeat_times": [2]}),
        "a number": ({"X": array()}, {"repeat_times": [2]}),
        "one element": ({"X": array(1)}, {"repeat_times": [4]}),
        "no rows": ({"X": array(0, 4)}, {"repeat_times": [2, 2]}),
    },
    gradients=["X"],
    refusals={
        "none": ({"X": array(3)}, {"repeat_times": [0]}, pm.ProgramError, "repeat_times 0"),
        "negative": ({"X": array(3)}, {"repeat_times": [-1]}, pm.ProgramError, "repeat_times -1"),
        "too large": ({"X": array(3, 4, 5)}, {"repeat_times": [2147483647] * 3}, pm.Error, ""),
    },
)

test_numbers = op_tests("tile", reference, cases={"integers": ({"X": ints(2, 3)}, {"repeat_times": [2, 2]})})
