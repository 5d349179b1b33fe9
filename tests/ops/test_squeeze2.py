"""squeeze2: X without axes of one element."""

import numpy as np

import paddle_mini as pm
from families.shapes import kinds_tests, no_rows, x_shape_tests
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    axes = [axis % x.ndim for axis in attrs["axes"] if x.ndim] or range(x.ndim)
    return {"Out": x.reshape([dim for i, dim in enumerate(x.shape) if i not in axes or dim != 1])}


test_squeeze2 = op_tests(
    "squeeze2",
    reference,
    cases={
        "named": ({"X": array(1, 3, 1, 2)}, {"axes": [-2]}),
        "one element": ({"X": array(1, 1)}, {"axes": [0, 1]}),
        "a number": ({"X": array()}, {"axes": [0]}),
        "no rows": ({"X": array(0, 1, 4)}, {"axes": [1]}),
    },
    gradients=["X"],
    unchecked=["XShape"],
    refusals={**no_rows({}), "no such axis": ({"X": array(3, 1)}, {"axes": [2]}, pm.ShapeError, "axes 2")},
)

test_kinds = kinds_tests("squeeze2", reference, {"axes": [1]})
test_x_shape = x_shape_tests("squeeze2", {})


def test_all_and_those_that_are_long():
    """The rank of Out is unknown while X's dimensions are unknown."""
    for shape, axes, expected in (((1, 3, 1, 2), [], (3, 2)), ((1, 3), [0, 1], (3,)), ((1, 1), [], ())):
        found = run_op("squeeze2", {"X": array(*shape)}, {"axes": axes})["Out"]
        assert found.shape == expected
        np.testing.assert_array_equal(found, array(*shape).reshape(expected))
