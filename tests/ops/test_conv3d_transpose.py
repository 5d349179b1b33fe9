"""conv3d_transpose: every voxel adds the scaled filter to Output."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def axis(attrs, i, size, window):
    stride, dilation, pads = attrs["strides"][i], attrs["dilations"][i], attrs["paddings"]
    before, after = (pads[i], pads[i]) if len(pads) == 3 else pads[2 * i : 2 * i + 2]
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
    last = attrs["data_format"] in ("NDHWC", "NHWC")
    if last:
        x = np.moveaxis(x, -1, 1)
    axes = [axis(attrs, i, x.shape[2 + i], filters.shape[2 + i]) for i in range(3)]
    outs, ins, margin = filters.shape[1], x.shape[1] // groups, 16
    canvas = np.zeros((len(x), outs * groups, *(size + 2 * margin for *_, size in axes)))
    for c in range(x.shape[1]):
        first = c // ins * outs
        for tap in np.ndindex(*filters.shape[2:]):
            stamp = x[:, c, None] * filters[(c, slice(None), *tap)][None, :, None, None, None]
            begins = [margin - before + i * dilation for i, (_, dilation, before, _) in zip(tap, axes)]
            places = [slice(b, b + n * a[0], a[0]) for b, n, a in zip(begins, x.shape[2:], axes)]
            canvas[(slice(None), slice(first, first + outs), *places)] += stamp
    out = canvas[(slice(None), slice(None), *(slice(margin, margin + size) for *_, size in axes))]
    return {"Output": np.moveaxis(out, 1, -1) if last else out}


def volumes(n, channels, *sizes, outs, window, groups=1, last=False):
    shape = (n, *sizes, channels) if last else (n, channels, *sizes)
    return {"Input": array(*shape), "Filter": array(channels, outs // groups, *window, seed=1)}


PLAIN = volumes(2, 3, 2, 4, 3, outs=4, window=(2, 3, 3))
SMALL = volumes(1, 2, 2, 3, 3, outs=2, window=(3, 3, 3))

test_conv3d_transpose = op_tests(
    "conv3d_transpose",
    reference,
    cases={
        "plain": (PLAIN, {}),
        "strides": (PLAIN, {"strides": [1, 2, 3]}),
        "paddings": (PLAIN, {"paddings": [0, 1, 1], "strides": [2, 2, 2]}),
        "six paddings": (SMALL, {"paddings": [0, 1, 1, 0, 1, 1], "strides": [2, 2, 1]}),
        "dilations": (SMALL, {"dilations": [2, 3, 1]}),
        "groups": (volumes(2, 4, 2, 3, 3, outs=6, window=(2, 2, 2), groups=2), {"groups": 2, "strides": [2, 2, 1]}),
        "each channel alone": (volumes(1, 3, 2, 2, 3, outs=3, window=(2, 2, 2), groups=3), {"groups": 3}),
        "output padding": (SMALL, {"strides": [2, 3, 2], "output_padding": [1, 2, 0]}),
        "output size": (SMALL, {"strides": [2, 2, 2], "output_size": [6, 7, 8]}),
        "same": (SMALL, {"strides": [2, 2, 2], "padding_algorithm": "SAME"}),
        "valid": (SMALL, {"paddings": [1, 1, 1], "padding_algorithm": "VALID"}),
        "channels last": (
            volumes(2, 4, 2, 3, 3, outs=6, window=(2, 2, 3), groups=2, last=True),
            {"groups": 2, "data_format": "NDHWC", "strides": [1, 2, 2], "paddings": [0, 1, 0]},
        ),
        "channels last, as PaddlePaddle names it": (
            volumes(1, 2, 2, 2, 2, outs=2, window=(2, 2, 2), last=True),
            {"data_format": "NHWC"},
        ),
        "one element": (volumes(1, 1, 1, 1, 1, outs=1, window=(1, 1, 1)), {}),
        "no images": (volumes(0, 3, 2, 2, 2, outs=4, window=(2, 2, 2)), {}),
    },
    gradients=["Input", "Filter"],
    tolerance={"float32": 1e-5},
    refusals={
        "other channels": ({**PLAIN, "Filter": array(2, 3, 3, 3, 3)}, {}, pm.ShapeError, "Filter 2 Input 3"),
        "groups that do not divide": (PLAIN, {"groups": 2}, pm.ShapeError, "3 2 groups"),
        "four dimensions": ({**PLAIN, "Input": array(3, 3, 4, 4)}, {}, pm.ShapeError, "Input 5 dimensions"),
        "int filter": ({**PLAIN, "Filter": ints(3, 3, 3, 3, 3)}, {}, pm.ShapeError, "Filter int64"),
        "empty window": ({**PLAIN, "Filter": array(3, 3, 0, 3, 3)}, {}, pm.ShapeError, "Filter"),
        "no voxels": ({**PLAIN, "Input": array(1, 3, 0, 4, 4)}, {}, pm.ShapeError, "no pixels"),
        "too much padding": (PLAIN, {"paddings": [3, 3, 3]}, pm.ShapeError, "paddings 3"),
        "two numbers": (PLAIN, {"output_size": [9, 9]}, pm.ProgramError, "output_size 2 numbers 3"),
        "too large an output": (SMALL, {"output_size": [9, 9, 9]}, pm.ProgramError, "output_size 9 4"),
        "too much output padding": (SMALL, {"output_padding": [1, 0, 0]}, pm.ProgramError, "output_padding 1"),
        "stride 0": (PLAIN, {"strides": [0, 1, 1]}, pm.ProgramError, "strides 0"),
        "no groups": (PLAIN, {"groups": 0}, pm.ProgramError, "groups 0"),
        "other format": (PLAIN, {"data_format": "NWC"}, pm.ProgramError, "'data_format' NWC NDHWC"),
    },
)
