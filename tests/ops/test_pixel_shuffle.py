"""pixel_shuffle: channels become pixels."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x, r = inputs["X"], attrs["upscale_factor"]
    last = attrs["data_format"] == "NHWC"
    n, channels, h, w = (np.moveaxis(x, -1, 1) if last else x).shape
    c = channels // (r * r)
    if last:
        return {"Out": x.reshape(n, h, w, c, r, r).transpose(0, 1, 4, 2, 5, 3).reshape(n, h * r, w * r, c)}
    return {"Out": x.reshape(n, c, r, r, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c, h * r, w * r)}


test_pixel_shuffle = op_tests(
    "pixel_shuffle",
    reference,
    cases={
        "two": ({"X": array(2, 12, 3, 4)}, {"upscale_factor": 2}),
        "three": ({"X": array(1, 9, 2, 2)}, {"upscale_factor": 3}),
        "channels last": ({"X": array(2, 3, 4, 12)}, {"upscale_factor": 2, "data_format": "NHWC"}),
        "one": ({"X": array(2, 3, 4, 5)}, {}),
        "one element": ({"X": array(1, 1, 1, 1)}, {}),
        "no images": ({"X": array(0, 12, 3, 4)}, {"upscale_factor": 2}),
        "no channels": ({"X": array(2, 0, 3, 4)}, {"upscale_factor": 2}),
    },
    gradients=["X"],
    values_only={"int64": ({"X": ints(1, 4, 2, 3)}, {"upscale_factor": 2})},
    refusals={
        "channels that do not divide": ({"X": array(1, 6, 2, 2)}, {"upscale_factor": 2}, pm.ShapeError, "X 6 divide 4"),
        "three dimensions": ({"X": array(4, 2, 2)}, {"upscale_factor": 2}, pm.ShapeError, "X 3 4"),
        "factor 0": ({"X": array(1, 4, 2, 2)}, {"upscale_factor": 0}, pm.ProgramError, "upscale_factor 0"),
    },
)
