"""expand: X repeated along its axes."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.tile(inputs["X"], attrs["expand_times"])}


test_expand = op_tests(
    "expand",
    reference,
    cases={
        "rows": ({"X": array(2, 3)}, {"expand_times": [3, 1]}),
        "last axis": ({"X": array(2, 3)}, {"expand_times": [1, 2]}),
        "both": ({"X": array(2, 3, 2)}, {"expand_times": [2, 1, 3]}),
        "one element": ({"X": array(1)}, {"expand_times": [4]}),
        "no rows": ({"X": array(0, 4)}, {"expand_times": [2, 2]}),
    },
    gradients=["X"],
    refusals={
        "none": ({"X": array(3)}, {"expand_times": [0]}, pm.ProgramError, "expand_times 0"),
        "negative": ({"X": array(3)}, {"expand_times": [-1]}, pm.ProgramError, "expand_times -1"),
        "too large": ({"X": array(3, 4, 5)}, {"expand_times": [2147483647] * 3}, pm.Error, ""),
        "fewer numbers": ({"X": array(3, 4)}, {"expand_times": [2]}, pm.ShapeError, "expand_times 1 2"),
    },
)

test_numbers = op_tests("expand", reference, cases={"integers": ({"X": ints(2, 3)}, {"expand_times": [2, 2]})})
