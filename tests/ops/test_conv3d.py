"""conv3d: Output[n, o, z, y, x] = sum over c, k, i, j of Filter[o, c, k, i, j] Input[n, c, z + k, y + i, x + j]."""

import paddle_mini as pm
from families.windows import convolution_cases, convolution_tests, filtered
from harness import array

PLAIN = filtered(2, 3, 4, 5, 6, filters=(4, 3, 2, 3, 3))
LAST = filtered(2, 4, 5, 6, 4, filters=(6, 2, 2, 3, 2))

test_conv3d = convolution_tests(
    "conv3d",
    {
        **convolution_cases(PLAIN, (2, 2, 2)),
        "plain": (PLAIN, {}),
        "strides": (PLAIN, {"strides": [1, 2, 3]}),
        "paddings": (PLAIN, {"paddings": [1, 0, 2]}),
        "six paddings": (PLAIN, {"paddings": [1, 0, 0, 2, 3, 1], "strides": [2, 2, 2]}),
        "padding wider than the window": (
            filtered(1, 1, 2, 2, 2, filters=(2, 1, 1, 2, 2)),
            {"paddings": [3, 3, 3], "strides": [2, 2, 2]},
        ),
        "dilations": (PLAIN, {"dilations": [3, 2, 2]}),
        "same": (PLAIN, {"padding_algorithm": "SAME", "strides": [2, 1, 3], "dilations": [2, 2, 2]}),
        "valid": (PLAIN, {"padding_algorithm": "VALID", "paddings": [4, 4, 4]}),
        "groups": (filtered(2, 4, 3, 4, 4, filters=(6, 2, 2, 3, 2)), {"groups": 2}),
        "channels last": (LAST, {"data_format": "NDHWC", "groups": 2, "strides": [1, 2, 1], "paddings": [1, 0, 1]}),
        "channels last, no groups": (filtered(2, 3, 4, 4, 2, filters=(3, 2, 2, 2, 2)), {"data_format": "NDHWC"}),
        "one tap": (filtered(2, 3, 3, 4, 5, filters=(4, 3, 1, 1, 1)), {}),
    },
    PLAIN,
    (2, 2, 2),
    refusals={
        "window too large": (filtered(2, 2, 3, 4, 4, filters=(3, 2, 4, 2, 2)), {}, pm.ShapeError, "spans 4 fit into 3"),
        "window of nothing": (filtered(2, 2, 3, 4, 4, filters=(3, 2, 2, 0, 2)), {}, pm.ShapeError, "Filter [3, 2, 2, 0, 2]"),
        "four axes": ({"Input": array(2, 2, 4, 4), "Filter": array(3, 2, 2, 2, 2)}, {}, pm.ShapeError, "Input 5 dimensions"),
        "two strides": (PLAIN, {"strides": [1, 1]}, pm.ProgramError, "strides 2 numbers"),
        "four paddings": (PLAIN, {"paddings": [1, 1, 1, 1]}, pm.ProgramError, "paddings 4 numbers"),
        "other format": (PLAIN, {"data_format": "NHWC"}, pm.ProgramError, "NHWC NCDHW"),
    },
)
