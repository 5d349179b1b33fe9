"""conv2d: Output[n, o, y, x] = sum over c, i, j of Filter[o, c, i, j] Input[n, c, y + i, x + j]."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def windows(size, window, stride, dilation, before, after, algorithm):
    """Paddings and the number of outputs along one axis."""
    if algorithm == "VALID":
        before = after = 0
    if algorithm == "SAME":
        dilation = 1
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        before, after = total // 2, total - total // 2
    return before, after, dilation, (size + before + after - dilation * (window - 1) - 1) // stride + 1


def reference(inputs, attrs):
    x, filters, groups = inputs["Input"], inputs["Filter"], attrs["groups"]
    pads = attrs["paddings"] if len(attrs["paddings"]) == 4 else [p for p in attrs["paddings"] for _ in range(2)]
    (above, below, dy, height), (left, right, dx, width) = (
        windows(
            x.shape[2 + i],
            filters.shape[2 + i],
            attrs["strides"][i],
            attrs["dilations"][i],
            pads[2 * i],
            pads[2 * i + 1],
            attrs["padding_algorithm"],
        )
        for i in range(2)
    )
    x = np.pad(x, ((0, 0), (0, 0), (above, below), (left, right)))
    out = np.zeros((len(x), len(filters), height, width))
    sy, sx = attrs["strides"]
    each, made = filters.shape[1], len(filters) // groups
    for g in range(groups):
        for i in range(filters.shape[2]):
            for j in range(filters.shape[3]):
                seen = x[
                    :,
                    g * each : (g + 1) * each,
                    i * dy : i * dy + sy * (height - 1) + 1 : sy,
                    j * dx : j * dx + sx * (width - 1) + 1 : sx,
                ]
                out[:, g * made : (g + 1) * made] += np.einsum("ncyx,oc->noyx", seen, filters[g * made : (g + 1) * made, :, i, j])
    return {"Output": out}


def images(*shape, filters):
    return {"Input": array(*shape), "Filter": array(*filters, seed=1)}


CASES = {
    "plain": (images(2, 3, 7, 6, filters=(4, 3, 3, 3)), {}),
    "wide rows": (images(1, 2, 5, 40, filters=(3, 2, 3, 4)), {}),
    "many small images": (images(40, 2, 4, 4, filters=(3, 2, 3, 3)), {}),
    "strides": (images(2, 3, 9, 8, filters=(4, 3, 3, 2)), {"strides": [2, 3]}),
    "paddings": (images(2, 3, 5, 6, filters=(4, 3, 3, 3)), {"paddings": [1, 2]}),
    "four paddings": (images(2, 3, 5, 6, filters=(4, 3, 3, 3)), {"paddings": [2, 0, 1, 3]}),
    "padding wider than the window": (images(2, 1, 3, 3, filters=(2, 1, 2, 2)), {"paddings": [4, 4], "strides": [3, 3]}),
    "dilations": (images(2, 3, 9, 8, filters=(4, 3, 3, 2)), {"dilations": [2, 3], "paddings": [1, 1]}),
    "everything": (
        images(3, 4, 11, 9, filters=(6, 2, 3, 3)),
        {"strides": [2, 1], "dilations": [1, 2], "paddings": [1, 0, 2, 1], "groups": 2},
    ),
    "same": (images(2, 2, 7, 8, filters=(3, 2, 3, 4)), {"padding_algorithm": "SAME", "strides": [2, 3]}),
    "same drops the dilation": (images(2, 2, 7, 8, filters=(3, 2, 3, 3)), {"padding_algorithm": "SAME", "dilations": [2, 2]}),
    "valid": (images(2, 2, 7, 8, filters=(3, 2, 3, 3)), {"padding_algorithm": "VALID", "paddings": [5, 5]}),
    "groups": (images(2, 4, 6, 6, filters=(6, 2, 3, 3)), {"groups": 2}),
    "depthwise": (images(2, 4, 6, 6, filters=(4, 1, 3, 3)), {"groups": 4}),
    "one tap": (images(2, 3, 20, 20, filters=(4, 3, 1, 1)), {}),
    "one tap of small images": (images(20, 3, 2, 2, filters=(4, 3, 1, 1)), {}),
    "one tap with groups": (images(1, 4, 20, 20, filters=(2, 2, 1, 1)), {"groups": 2}),
    "one element": (images(1, 1, 1, 1, filters=(1, 1, 1, 1)), {}),
    "no images": (images(0, 2, 4, 4, filters=(3, 2, 3, 3)), {}),
    "no channels": (images(2, 0, 4, 4, filters=(3, 0, 3, 3)), {}),
    "no filters": (images(2, 2, 4, 4, filters=(0, 2, 3, 3)), {}),
    "any layout": (images(2, 2, 4, 4, filters=(3, 2, 3, 3)), {"data_format": "AnyLayout"}),
}

test_conv2d = op_tests(
    "conv2d",
    reference,
    cases=CASES,
    gradients=["Input", "Filter"],
    refusals={
        "other channels": (
            images(2, 4, 6, 6, filters=(3, 3, 3, 3)),
            {},
            pm.ShapeError,
            "Filter has 3 input channels, Input has 4",
        ),
        "filters and groups": (
            images(2, 4, 6, 6, filters=(3, 2, 3, 3)),
            {"groups": 2},
            pm.ShapeError,
            "3 output channels 2 groups",
        ),
        "window too large": (images(2, 2, 4, 4, filters=(3, 2, 5, 3)), {}, pm.ShapeError, "spans 5 fit into 4"),
        "window of nothing": (images(2, 2, 4, 4, filters=(3, 2, 0, 3)), {}, pm.ShapeError, "Filter [3, 2, 0, 3]"),
        "three axes": ({"Input": array(2, 4, 4), "Filter": array(3, 2, 3, 3)}, {}, pm.ShapeError, "Input 3 dimensions"),
        "stride 0": (images(2, 2, 4, 4, filters=(3, 2, 3, 3)), {"strides": [0, 1]}, pm.ProgramError, "strides 0"),
        "no groups": (images(2, 2, 4, 4, filters=(3, 2, 3, 3)), {"groups": 0}, pm.ProgramError, "groups 0"),
        "negative padding": (images(2, 2, 4, 4, filters=(3, 2, 3, 3)), {"paddings": [-1, 0]}, pm.ProgramError, "paddings -1"),
        "three paddings": (
            images(2, 2, 4, 4, filters=(3, 2, 3, 3)),
            {"paddings": [1, 1, 1]},
            pm.ProgramError,
            "paddings 3 numbers",
        ),
        "a layout that is none": (
            images(2, 2, 4, 4, filters=(3, 2, 3, 3)),
            {"data_format": "CHWN"},
            pm.ProgramError,
            "CHWN NCHW",
        ),
        "other dtype": (
            {"Input": array(2, 2, 4, 4), "Filter": array(3, 2, 3, 3).astype("float32")},
            {},
            pm.ShapeError,
            "float32",
        ),
    },
    # Sums of up to 100 products.
    tolerance={"float32": 1e-5},
)


@pytest.mark.parametrize("case", CASES)
def test_depthwise_conv2d_is_the_same_operator(case):
    inputs, attrs = CASES[case]
    np.testing.assert_array_equal(run_op("depthwise_conv2d", inputs, attrs)["Output"], run_op("conv2d", inputs, attrs)["Output"])
