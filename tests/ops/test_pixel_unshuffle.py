"""pixel_unshuffle: pixels become channels."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, r = inputs["X"], attrs["downscale_factor"]
    last = attrs["data_format"] == "NHWC"
    n, c, h, w = (np.moveaxis(x, -1, 1) if last else x).shape
    h, w = h // r, w // r
    if last:
        return {"Out": x.reshape(n, h, r, w, r, c).transpose(0, 1, 3, 5, 2, 4).reshape(n, h, w, c * r * r)}
    return {"Out": x.reshape(n, c, h, r, w, r).transpose(0, 1, 3, 5, 2, 4).reshape(n, c * r * r, h, w)}


test_pixel_unshuffle = op_tests(
    "pixel_unshuffle",
    reference,
    cases={
        "two": ({"X": array(2, 3, 4, 6)}, {"downscale_factor": 2}),
        "three": ({"X": array(1, 2, 3, 6)}, {"downscale_factor": 3}),
        "channels last": ({"X": array(2, 4, 6, 3)}, {"downscale_factor": 2, "data_format": "NHWC"}),
        "one": ({"X": array(2, 3, 4, 5)}, {}),
        "one element": ({"X": array(1, 1, 1, 1)}, {}),
        "no images": ({"X": array(0, 3, 4, 6)}, {"downscale_factor": 2}),
        "no rows": ({"X": array(2, 3, 0, 6)}, {"downscale_factor": 2}),
    },
    gradients=["X"],
    values_only={"int64": ({"X": ints(1, 2, 4, 2)}, {"downscale_factor": 2})},
    refusals={
        "height that does not divide": ({"X": array(1, 1, 3, 4)}, {"downscale_factor": 2}, pm.ShapeError, "X 2 divide"),
        "three dimensions": ({"X": array(4, 2, 2)}, {"downscale_factor": 2}, pm.ShapeError, "X 3 4"),
        "factor 0": ({"X": array(1, 1, 4, 4)}, {"downscale_factor": 0}, pm.ProgramError, "downscale_factor 0"),
    },
)


def test_undoes_pixel_shuffle():
    x = array(2, 8, 3, 4)
    shuffled = run_op("pixel_shuffle", {"X": x}, {"upscale_factor": 2})["Out"]
    np.testing.assert_array_equal(run_op("pixel_unshuffle", {"X": shuffled}, {"downscale_factor": 2})["Out"], x)
