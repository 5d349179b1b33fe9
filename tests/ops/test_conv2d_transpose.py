"""conv2d_transpose and depthwise_conv2d_transpose: every pixel adds the scaled filter to Output."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def axis(attrs, i, size, window):
    stride, dilation, pads = attrs["strides"][i], attrs["dilations"][i], attrs["paddings"]
    before, after = (pads[i], pads[i]) if len(pads) == 2 else pads[2 * i : 2 * i + 2]
    if attrs["padding_algorithm"] == "VALID":
        before = after = 0
    if attrs["padding_algorithm"] == "SAME":  # Traps: the size of Input counts; dilations are dropped
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        before, after, dilation = total // 2, total - total // 2, 1
    least = (size - 1) * stride - before - after + dilation * (window - 1) + 1
    more = attrs["output_padding"][i] if attrs["output_padding"] else 0
    return stride, dilation, before, attrs["output_size"][i] if attrs["output_size"] else least + more


def reference(inputs, attrs):
    x, filters, groups = inputs["Input"], inputs["Filter"], attrs["groups"]
    sy, dy, top, height = axis(attrs, 0, x.shape[2], filters.shape[2])
    sx, dx, left, width = axis(attrs, 1, x.shape[3], filters.shape[3])
    outs, ins = filters.shape[1], x.shape[1] // groups
    canvas = np.zeros((len(x), outs * groups, height + 64, width + 64))
    for c in range(x.shape[1]):
        first = c // ins * outs
        for i in range(filters.shape[2]):
            for j in range(filters.shape[3]):
                y0, x0 = 32 - top + i * dy, 32 - left + j * dx
                stamp = x[:, c, None] * filters[c, :, i, j][None, :, None, None]
                canvas[:, first : first + outs, y0 : y0 + x.shape[2] * sy : sy, x0 : x0 + x.shape[3] * sx : sx] += stamp
    return {"Output": canvas[:, :, 32 : 32 + height, 32 : 32 + width]}


def images(n, channels, height, width, outs, window, groups=1):
    return {"Input": array(n, channels, height, width), "Filter": array(channels, outs // groups, *window, seed=1)}


TOLERANCE = {"float32": 1e-5}  # sums of many products

test_conv2d_transpose = op_tests(
    "conv2d_transpose",
    reference,
    cases={
        "plain": (images(2, 3, 4, 5, 4, (3, 3)), {}),
        "strides": (images(2, 3, 4, 5, 4, (3, 2)), {"strides": [2, 3]}),
        "paddings": (images(2, 3, 6, 5, 4, (3, 3)), {"paddings": [1, 2], "strides": [2, 2]}),
        "four paddings": (images(1, 2, 6, 5, 3, (3, 3)), {"paddings": [0, 1, 2, 1]}),
        "dilations": (images(1, 2, 5, 4, 3, (3, 2)), {"dilations": [2, 3]}),
        "groups": (images(2, 4, 4, 5, 6, (3, 3), groups=2), {"groups": 2, "strides": [2, 2]}),
        "output padding": (images(1, 2, 4, 5, 3, (3, 3)), {"strides": [2, 3], "output_padding": [1, 2]}),
        "output size": (images(1, 2, 4, 5, 3, (3, 3)), {"strides": [2, 2], "output_size": [9, 12]}),
        "same": (images(1, 2, 5, 4, 3, (3, 3)), {"strides": [2, 2], "padding_algorithm": "SAME"}),
        "valid": (images(1, 2, 5, 4, 3, (3, 3)), {"paddings": [1, 1], "padding_algorithm": "VALID"}),
        "window larger than image": (images(2, 3, 1, 1, 4, (5, 4)), {}),
        "one element": (images(1, 1, 1, 1, 1, (1, 1)), {}),
        "no images": (images(0, 3, 4, 5, 4, (3, 3)), {}),
    },
    gradients=["Input", "Filter"],
    tolerance=TOLERANCE,
    refusals={
        "other channels": ({"Input": array(1, 3, 4, 4), "Filter": array(2, 3, 3, 3)}, {}, pm.ShapeError, "Filter 2 Input 3"),
        "groups that do not divide": (images(1, 3, 4, 4, 4, (3, 3)), {"groups": 2}, pm.ShapeError, "3 2 groups"),
        "three dimensions": ({"Input": array(3, 4, 4), "Filter": array(3, 3, 3, 3)}, {}, pm.ShapeError, "Input 3 4"),
        "int filter": ({"Input": array(1, 3, 4, 4), "Filter": ints(3, 3, 3, 3)}, {}, pm.ShapeError, "Filter int64"),
        "empty window": ({"Input": array(1, 3, 4, 4), "Filter": array(3, 3, 0, 3)}, {}, pm.ShapeError, "Filter"),
        "no pixels": ({"Input": array(1, 3, 0, 4), "Filter": array(3, 3, 3, 3)}, {}, pm.ShapeError, "no pixels"),
        "too much padding": (images(1, 3, 1, 1, 4, (3, 3)), {"paddings": [2, 2]}, pm.ShapeError, "paddings 2"),
        "too large an output": (images(1, 3, 4, 4, 4, (3, 3)), {"output_size": [9, 9]}, pm.ProgramError, "output_size 9 6"),
        "too much output padding": (
            images(1, 3, 4, 4, 4, (3, 3)),
            {"output_padding": [1, 1]},
            pm.ProgramError,
            "output_padding 1",
        ),
        "stride 0": (images(1, 3, 4, 4, 4, (3, 3)), {"strides": [0, 1]}, pm.ProgramError, "strides 0"),
        "no groups": (images(1, 3, 4, 4, 4, (3, 3)), {"groups": 0}, pm.ProgramError, "groups 0"),
    },
)

test_depthwise_conv2d_transpose = op_tests(
    "depthwise_conv2d_transpose",
    reference,
    cases={"depthwise": (images(2, 4, 4, 5, 4, (3, 3), groups=4), {"groups": 4, "strides": [2, 2]})},
    gradients=["Input", "Filter"],
    tolerance=TOLERANCE,
)
