"""flatten_contiguous_range: X with the axes from start_axis to stop_axis merged into one."""

import paddle_mini as pm
from families.shapes import no_rows, x_shape_tests
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    if x.ndim == 0:
        return {"Out": x.reshape(1)}
    first, last = attrs["start_axis"] % x.ndim, attrs["stop_axis"] % x.ndim
    count = 1
    for dim in x.shape[first : last + 1]:
        count *= dim
    return {"Out": x.reshape(x.shape[:first] + (count,) + x.shape[last + 1 :])}


test_flatten_contiguous_range = op_tests(
    "flatten_contiguous_range",
    reference,
    cases={
        "an image": ({"X": array(2, 3, 4, 5)}, {"start_axis": 1, "stop_axis": -1}),
        "the middle": ({"X": array(2, 3, 4, 5)}, {"start_axis": 1, "stop_axis": 2}),
        "all": ({"X": array(2, 3, 4)}, {"start_axis": 0, "stop_axis": 2}),
        "one axis": ({"X": array(2, 3, 4)}, {}),
        "negative axes": ({"X": array(2, 3, 4)}, {"start_axis": -3, "stop_axis": -2}),
        "one element": ({"X": array()}, {"start_axis": 0, "stop_axis": -1}),
        "no rows": ({"X": array(0, 4, 5)}, {"start_axis": 1, "stop_axis": 2}),
        "integers": ({"X": ints(2, 3, 4)}, {"start_axis": 0, "stop_axis": 1}),
    },
    unchecked=["XShape"],
    refusals={
        **no_rows({}),
        "wrong order": ({"X": array(2, 3, 4)}, {"start_axis": 2, "stop_axis": 1}, pm.ShapeError, "start_axis 2 stop_axis 1"),
        "no such axis": ({"X": array(2, 3)}, {"start_axis": 0, "stop_axis": 2}, pm.ShapeError, "stop_axis 2"),
        "no axis of a number": ({"X": array()}, {}, pm.ShapeError, "start_axis 1"),
    },
)

test_gradient = op_tests(
    "flatten_contiguous_range",
    reference,
    gradients=["X"],
    unchecked=["XShape"],
    cases={
        "the middle": ({"X": array(2, 3, 4, 5)}, {"start_axis": 1, "stop_axis": 2}),
        "one element": ({"X": array()}, {"start_axis": 0, "stop_axis": -1}),
    },
)
test_x_shape = x_shape_tests("flatten_contiguous_range", {"start_axis": 0})
