"""reverse: X with some axes back to front."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.flip(inputs["X"], attrs["axis"])}


test_reverse = op_tests(
    "reverse",
    reference,
    cases={
        "rows": ({"X": array(3, 4)}, {"axis": [0]}),
        "last axis": ({"X": array(3, 4)}, {"axis": [-1]}),
        "both": ({"X": array(3, 4, 2)}, {"axis": [0, 2]}),
        "none": ({"X": array(3, 4)}, {"axis": []}),
        "one element": ({"X": array(1)}, {"axis": [0]}),
        "no rows": ({"X": array(0, 4)}, {"axis": [0, 1]}),
    },
    gradients=["X"],
    refusals={
        "no such axis": ({"X": array(3)}, {"axis": [1]}, pm.ShapeError, "axis 1"),
        "twice": ({"X": array(3)}, {"axis": [0, -1]}, pm.ProgramError, "twice"),
    },
)

test_numbers = op_tests("reverse", reference, cases={"whole numbers": ({"X": ints(3, 4)}, {"axis": [1]})})
