"""unsqueeze2: X with new axes of one element."""

import numpy as np

import paddle_mini as pm
from families.shapes import kinds_tests, no_rows, x_shape_tests
from harness import array, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    for axis in attrs["axes"]:
        x = np.expand_dims(x, axis)
    return {"Out": x}


test_unsqueeze2 = op_tests(
    "unsqueeze2",
    reference,
    cases={
        "front": ({"X": array(3, 4)}, {"axes": [0]}),
        "end": ({"X": array(3, 4)}, {"axes": [-1]}),
        "several": ({"X": array(3, 4)}, {"axes": [1, 0, 4]}),
        "none": ({"X": array(3, 4)}, {}),
        "one element": ({"X": array()}, {"axes": [0, 1]}),
        "no rows": ({"X": array(0, 4)}, {"axes": [1]}),
    },
    gradients=["X"],
    unchecked=["XShape"],
    refusals={
        **no_rows({}),
        "no such axis": ({"X": array(3)}, {"axes": [2]}, pm.ShapeError, "axes 2"),
        "too many": ({"X": array(3)}, {"axes": [0] * 9}, pm.ShapeError, ""),
    },
)

test_kinds = kinds_tests("unsqueeze2", reference, {})
test_x_shape = x_shape_tests("unsqueeze2", {})
