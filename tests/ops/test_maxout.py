"""maxout: each channel of Out is the largest of `groups` neighbouring channels of X."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, groups = inputs["X"], attrs["groups"]
    axis = attrs["axis"] % x.ndim
    split = x.reshape(*x.shape[:axis], x.shape[axis] // groups, groups, *x.shape[axis + 1 :])
    return {"Out": split.max(axis=axis + 1)}


test_maxout = op_tests(
    "maxout",
    reference,
    cases={
        "two": ({"X": array(2, 6, 3, 4)}, {"groups": 2}),
        "three": ({"X": array(2, 6, 3, 7)}, {"groups": 3}),
        "channels last": ({"X": array(2, 3, 4, 6)}, {"groups": 2, "axis": -1}),
        "axis 3": ({"X": array(2, 3, 4, 6)}, {"groups": 3, "axis": 3}),
        "one": ({"X": array(2, 3, 4, 5)}, {"groups": 1}),
        "one element": ({"X": array(1, 1, 1, 1)}, {"groups": 1}),
        "no images": ({"X": array(0, 6, 3, 4)}, {"groups": 2}),
        "no channels": ({"X": array(2, 0, 3, 4)}, {"groups": 2}),
    },
    gradients=["X"],
    refusals={
        "channels that do not divide": ({"X": array(1, 6, 2, 2)}, {"groups": 4}, pm.ShapeError, "X 6 divide 4"),
        "no such axis": ({"X": array(3)}, {"groups": 1}, pm.ShapeError, "axis 1"),
        "no groups": ({"X": array(1, 6, 2, 2)}, {"groups": 0}, pm.ProgramError, "groups 0"),
    },
)


def test_of_equal_channels_the_first_takes_the_gradient():
    one = np.ones((1, 1, 1, 1))
    inputs = {"X": np.ones((1, 2, 1, 1)), "Out": one, "Out@GRAD": one}
    np.testing.assert_array_equal(run_op("maxout_grad", inputs, {"groups": 2})["X@GRAD"].ravel(), [1, 0])
