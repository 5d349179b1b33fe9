"""conv3d: Output[n, o, z, y, x] = sum over c, k, i, j of Filter[o, c, k, i, j] Input[n, c, z + k, y + i, x + j]."""

import itertools

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def windows(size, window, stride, dilation, before, after, algorithm):
    """Paddings, dilation and the number of outputs along one axis."""
    if algorithm == "VALID":
        before = after = 0
    if algorithm == "SAME":
        dilation = 1
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        before, after = total // 2, total - total // 2
    return before, after, dilation, (size + before + after - dilation * (window - 1) - 1) // stride + 1


def reference(inputs, attrs):
    x, filters, groups = inputs["Input"], inputs["Filter"], attrs["groups"]
    last = attrs["data_format"] == "NDHWC"
    x = np.moveaxis(x, -1, 1) if last else x
    pads = attrs["paddings"] if len(attrs["paddings"]) == 6 else [p for p in attrs["paddings"] for _ in range(2)]
    axes = [
        windows(
            x.shape[2 + i],
            filters.shape[2 + i],
            attrs["strides"][i],
            attrs["dilations"][i],
            pads[2 * i],
            pads[2 * i + 1],
            attrs["padding_algorithm"],
        )
        for i in range(3)
    ]
    x = np.pad(x, ((0, 0), (0, 0), *[axis[:2] for axis in axes]))
    out = np.zeros((len(x), len(filters), *[axis[3] for axis in axes]))
    each, made = filters.shape[1], len(filters) // groups
    for g, tap in itertools.product(range(groups), np.ndindex(*filters.shape[2:])):
        seen = tuple(
            slice(t * axis[2], t * axis[2] + s * (axis[3] - 1) + 1, s) for t, axis, s in zip(tap, axes, attrs["strides"])
        )
        out[:, g * made : (g + 1) * made] += np.einsum(
            "nczyx,oc->nozyx",
            x[(slice(None), slice(g * each, (g + 1) * each), *seen)],
            filters[(slice(g * made, (g + 1) * made), slice(None), *tap)],
        )
    return {"Output": np.moveaxis(out, 1, -1) if last else out}


def volumes(*shape, filters):
    return {"Input": array(*shape), "Filter": array(*filters, seed=1)}


PLAIN = volumes(2, 3, 4, 5, 6, filters=(4, 3, 2, 3, 3))
LAST = volumes(2, 4, 5, 6, 4, filters=(6, 2, 2, 3, 2))

test_conv3d = op_tests(
    "conv3d",
    reference,
    cases={
        "plain": (PLAIN, {}),
        "strides": (PLAIN, {"strides": [1, 2, 3]}),
        "paddings": (PLAIN, {"paddings": [1, 0, 2]}),
        "six paddings": (PLAIN, {"paddings": [1, 0, 0, 2, 3, 1], "strides": [2, 2, 2]}),
        "padding wider than the window": (
            volumes(1, 1, 2, 2, 2, filters=(2, 1, 1, 2, 2)),
            {"paddings": [3, 3, 3], "strides": [2, 2, 2]},
        ),
        "dilations": (PLAIN, {"dilations": [3, 2, 2]}),
        "same": (PLAIN, {"padding_algorithm": "SAME", "strides": [2, 1, 3], "dilations": [2, 2, 2]}),
        "valid": (PLAIN, {"padding_algorithm": "VALID", "paddings": [4, 4, 4]}),
        "groups": (volumes(2, 4, 3, 4, 4, filters=(6, 2, 2, 3, 2)), {"groups": 2}),
        "channels last": (LAST, {"data_format": "NDHWC", "groups": 2, "strides": [1, 2, 1], "paddings": [1, 0, 1]}),
        "channels last, no groups": (volumes(2, 3, 4, 4, 2, filters=(3, 2, 2, 2, 2)), {"data_format": "NDHWC"}),
        "one tap": (volumes(2, 3, 3, 4, 5, filters=(4, 3, 1, 1, 1)), {}),
        "one element": (volumes(1, 1, 1, 1, 1, filters=(1, 1, 1, 1, 1)), {}),
        "no images": (volumes(0, 2, 3, 4, 4, filters=(3, 2, 2, 2, 2)), {}),
        "no channels": (volumes(2, 0, 3, 4, 4, filters=(3, 0, 2, 2, 2)), {}),
        "no filters": (volumes(2, 2, 3, 4, 4, filters=(0, 2, 2, 2, 2)), {}),
        "any layout": (PLAIN, {"data_format": "AnyLayout"}),
    },
    gradients=["Input", "Filter"],
    refusals={
        "other channels": (
            volumes(2, 4, 3, 4, 4, filters=(3, 3, 2, 2, 2)),
            {},
            pm.ShapeError,
            "Filter has 3 input channels, Input has 4",
        ),
        "filters and groups": (
            volumes(2, 4, 3, 4, 4, filters=(3, 2, 2, 2, 2)),
            {"groups": 2},
            pm.ShapeError,
            "3 output channels 2 groups",
        ),
        "window too large": (volumes(2, 2, 3, 4, 4, filters=(3, 2, 4, 2, 2)), {}, pm.ShapeError, "spans 4 fit into 3"),
        "window of nothing": (volumes(2, 2, 3, 4, 4, filters=(3, 2, 2, 0, 2)), {}, pm.ShapeError, "Filter [3, 2, 2, 0, 2]"),
        "four axes": ({"Input": array(2, 2, 4, 4), "Filter": array(3, 2, 2, 2, 2)}, {}, pm.ShapeError, "Input 5 dimensions"),
        "stride 0": (PLAIN, {"strides": [0, 1, 1]}, pm.ProgramError, "strides 0"),
        "two strides": (PLAIN, {"strides": [1, 1]}, pm.ProgramError, "strides 2 numbers"),
        "four paddings": (PLAIN, {"paddings": [1, 1, 1, 1]}, pm.ProgramError, "paddings 4 numbers"),
        "negative padding": (PLAIN, {"paddings": [0, -1, 0]}, pm.ProgramError, "paddings -1"),
        "no groups": (PLAIN, {"groups": 0}, pm.ProgramError, "groups 0"),
        "other format": (PLAIN, {"data_format": "NHWC"}, pm.ProgramError, "NHWC NCDHW"),
    },
    # Sums of up to 100 products.
    tolerance={"float32": 1e-5},
)
