"""channel_shuffle, shuffle_channel: interleave the channels of all groups."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x, groups = inputs["X"], attrs["groups"]
    last = attrs["data_format"] == "NHWC"
    first = np.moveaxis(x, -1, 1) if last else x
    n, c, h, w = first.shape
    out = first.reshape(n, groups, c // groups, h, w).swapaxes(1, 2).reshape(first.shape)
    return {"Out": np.moveaxis(out, 1, -1) if last else out}


test_channel_shuffle = op_tests(
    "channel_shuffle",
    reference,
    cases={
        "two groups": ({"X": array(2, 6, 3, 4)}, {"groups": 2}),
        "three groups": ({"X": array(2, 6, 3, 4)}, {"groups": 3}),
        "channels last": ({"X": array(2, 3, 4, 6)}, {"groups": 3, "data_format": "NHWC"}),
        "one group": ({"X": array(2, 6, 3, 4)}, {}),
        "one element": ({"X": array(1, 1, 1, 1)}, {}),
        "no images": ({"X": array(0, 6, 3, 4)}, {"groups": 2}),
        "no channels": ({"X": array(2, 0, 3, 4)}, {"groups": 2}),
        "no pixels": ({"X": array(2, 6, 0, 4)}, {"groups": 2}),
    },
    gradients=["X"],
    values_only={"int64": ({"X": ints(1, 4, 2, 3)}, {"groups": 2})},
    refusals={
        "channels that do not divide": ({"X": array(1, 6, 2, 2)}, {"groups": 4}, pm.ShapeError, "X 6 divide 4"),
        "three dimensions": ({"X": array(4, 2, 2)}, {}, pm.ShapeError, "X 3 4"),
        "no groups": ({"X": array(1, 6, 2, 2)}, {"groups": 0}, pm.ProgramError, "groups 0"),
    },
)

test_shuffle_channel = op_tests(
    "shuffle_channel",
    lambda inputs, attrs: reference(inputs, {"groups": attrs["group"], "data_format": "NCHW"}),
    cases={
        "two groups": ({"X": array(2, 6, 3, 4)}, {"group": 2}),
        "one group": ({"X": array(2, 6, 3, 4)}, {}),
        "one element": ({"X": array(1, 1, 1, 1)}, {}),
        "no images": ({"X": array(0, 6, 3, 4)}, {"group": 2}),
    },
    gradients=["X"],
    refusals={"channels that do not divide": ({"X": array(1, 6, 2, 2)}, {"group": 4}, pm.ShapeError, "X 6 divide 4")},
)
