"""flatten2: X as a matrix."""

import numpy as np

import paddle_mini as pm
from families.shapes import kinds_tests, no_rows, x_shape_tests
from harness import array, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    rows = int(np.prod(x.shape[: attrs["axis"]])) if attrs["axis"] else 1
    columns = int(np.prod(x.shape[attrs["axis"] :])) if attrs["axis"] < x.ndim else 1
    return {"Out": x.reshape(rows, columns)}


test_flatten2 = op_tests(
    "flatten2",
    reference,
    cases={
        "first axis": ({"X": array(3, 4, 5)}, {}),
        "negative": ({"X": array(3, 4, 5)}, {"axis": -1}),
        "one row": ({"X": array(3, 4)}, {"axis": 0}),
        "one column": ({"X": array(3, 4)}, {"axis": 2}),
        "one element": ({"X": array()}, {"axis": 0}),
        "no rows": ({"X": array(0, 4, 2)}, {"axis": 2}),
    },
    gradients=["X"],
    unchecked=["XShape"],
    refusals={**no_rows({}), "no such axis": ({"X": array(3)}, {"axis": 2}, pm.ShapeError, "axis 2")},
)

test_kinds = kinds_tests("flatten2", reference, {})
test_x_shape = x_shape_tests("flatten2", {})
