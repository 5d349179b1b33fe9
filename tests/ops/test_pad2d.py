"""pad2d: Out = images X with a border: a constant, mirrored or repeated."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    above, below, left, right = attrs["paddings"]
    border = [(above, below), (left, right)]
    pads = [(0, 0), *border, (0, 0)] if attrs["data_format"] == "NHWC" else [(0, 0), (0, 0), *border]
    if attrs["mode"] == "constant":
        return {"Out": np.pad(inputs["X"], pads, constant_values=np.float32(attrs["pad_value"]))}
    return {"Out": np.pad(inputs["X"], pads, mode=attrs["mode"])}


X = {"X": array(2, 3, 4, 5)}

test_pad2d = op_tests(
    "pad2d",
    reference,
    cases={
        **{
            f"{mode}, {layout}": (X, {"paddings": [1, 2, 0, 1], "mode": mode, "data_format": layout})
            for mode in ("constant", "reflect", "edge")
            for layout in ("NCHW", "NHWC")
        },
        "value": (X, {"paddings": [1, 0, 2, 3], "pad_value": 0.1}),
        "nothing": (X, {"paddings": [0, 0, 0, 0], "mode": "reflect"}),
        "one element": ({"X": array(1, 1, 1, 1)}, {"paddings": [2, 0, 0, 1], "mode": "edge"}),
        "no images": ({"X": array(0, 2, 3, 3)}, {"paddings": [1, 1, 1, 1]}),
        "no rows": ({"X": array(1, 2, 0, 3)}, {"paddings": [1, 1, 1, 1]}),
    },
    gradients=["X"],
    refusals={
        "mirror too wide": (X, {"paddings": [4, 0, 0, 0], "mode": "reflect"}, pm.ShapeError, "4 elements axis 2"),
        "edge of nothing": (
            {"X": array(1, 1, 0, 2)},
            {"paddings": [1, 0, 0, 0], "mode": "edge"},
            pm.ShapeError,
            "0 elements axis 2",
        ),
        "negative": (X, {"paddings": [0, -1, 0, 0]}, pm.ProgramError, "paddings -1"),
        "two paddings": (X, {"paddings": [1, 1]}, pm.ProgramError, "paddings 2 4"),
        "no paddings": (X, {}, pm.ProgramError, "paddings missing"),
        "other mode": (X, {"paddings": [0, 0, 0, 0], "mode": "circular"}, pm.ProgramError, "mode circular"),
        "three axes": ({"X": array(3, 4, 4)}, {"paddings": [0, 0, 0, 0]}, pm.ShapeError, "X 4 dimensions"),
    },
)


def test_whole_numbers_are_padded_too():
    found = run_op("pad2d", {"X": np.ones((1, 1, 1, 2), "int64")}, {"paddings": [1, 0, 0, 1], "pad_value": 7.0})["Out"]
    np.testing.assert_array_equal(found, [[[[7, 7, 7], [1, 1, 7]]]])
