"""conv2d: Output[n, o, y, x] = sum over c, i, j of Filter[o, c, i, j] Input[n, c, y + i, x + j]."""

import numpy as np
import pytest

import paddle_mini as pm
from families.windows import convolution_cases, convolution_tests, filtered
from harness import array, run_op

PLAIN = filtered(2, 2, 4, 4, filters=(3, 2, 3, 3))
CASES = {
    **convolution_cases(PLAIN, (3, 3)),
    "plain": (filtered(2, 3, 7, 6, filters=(4, 3, 3, 3)), {}),
    "wide rows": (filtered(1, 2, 5, 40, filters=(3, 2, 3, 4)), {}),
    "many small images": (filtered(40, 2, 4, 4, filters=(3, 2, 3, 3)), {}),
    "strides": (filtered(2, 3, 9, 8, filters=(4, 3, 3, 2)), {"strides": [2, 3]}),
    "paddings": (filtered(2, 3, 5, 6, filters=(4, 3, 3, 3)), {"paddings": [1, 2]}),
    "four paddings": (filtered(2, 3, 5, 6, filters=(4, 3, 3, 3)), {"paddings": [2, 0, 1, 3]}),
    "padding wider than the window": (filtered(2, 1, 3, 3, filters=(2, 1, 2, 2)), {"paddings": [4, 4], "strides": [3, 3]}),
    "dilations": (filtered(2, 3, 9, 8, filters=(4, 3, 3, 2)), {"dilations": [2, 3], "paddings": [1, 1]}),
    "everything": (
        filtered(3, 4, 11, 9, filters=(6, 2, 3, 3)),
        {"strides": [2, 1], "dilations": [1, 2], "paddings": [1, 0, 2, 1], "groups": 2},
    ),
    "same": (filtered(2, 2, 7, 8, filters=(3, 2, 3, 4)), {"padding_algorithm": "SAME", "strides": [2, 3]}),
    "same drops the dilation": (filtered(2, 2, 7, 8, filters=(3, 2, 3, 3)), {"padding_algorithm": "SAME", "dilations": [2, 2]}),
    "valid": (filtered(2, 2, 7, 8, filters=(3, 2, 3, 3)), {"padding_algorithm": "VALID", "paddings": [5, 5]}),
    "groups": (filtered(2, 4, 6, 6, filters=(6, 2, 3, 3)), {"groups": 2}),
    "depthwise": (filtered(2, 4, 6, 6, filters=(4, 1, 3, 3)), {"groups": 4}),
    "one tap": (filtered(2, 3, 20, 20, filters=(4, 3, 1, 1)), {}),
    "one tap of small images": (filtered(20, 3, 2, 2, filters=(4, 3, 1, 1)), {}),
    "one tap with groups": (filtered(1, 4, 20, 20, filters=(2, 2, 1, 1)), {"groups": 2}),
}

test_conv2d = convolution_tests(
    "conv2d",
    CASES,
    PLAIN,
    (3, 3),
    refusals={
        "window too large": (filtered(2, 2, 4, 4, filters=(3, 2, 5, 3)), {}, pm.ShapeError, "spans 5 fit into 4"),
        "window of nothing": (filtered(2, 2, 4, 4, filters=(3, 2, 0, 3)), {}, pm.ShapeError, "Filter [3, 2, 0, 3]"),
        "three axes": ({"Input": array(2, 4, 4), "Filter": array(3, 2, 3, 3)}, {}, pm.ShapeError, "Input 3 dimensions"),
        "three paddings": (PLAIN, {"paddings": [1, 1, 1]}, pm.ProgramError, "paddings 3 numbers"),
        "a layout that is none": (PLAIN, {"data_format": "CHWN"}, pm.ProgramError, "CHWN NCHW"),
        "other dtype": ({**PLAIN, "Filter": PLAIN["Filter"].astype("float32")}, {}, pm.ShapeError, "float32"),
    },
)


@pytest.mark.parametrize("case", CASES)
def test_depthwise_conv2d_is_the_same_operator(case):
    inputs, attrs = CASES[case]
    np.testing.assert_array_equal(run_op("depthwise_conv2d", inputs, attrs)["Output"], run_op("conv2d", inputs, attrs)["Output"])
