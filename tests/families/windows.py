# Shared parts of the tests of convolutions and of pooling, over images and volumes.
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import paddle_mini as pm
from harness import Cases, array, op_tests, run_op

Attrs = dict[str, Any]


def padding(attrs: Attrs, axes: int) -> list[tuple[int, int]]:
    """The paddings before and after each axis."""
    pads = attrs["paddings"]
    return list(zip(pads[::2], pads[1::2])) if len(pads) == 2 * axes else [(pad, pad) for pad in pads]


def settled_padding(size: int, window: int, stride: int, pads: tuple[int, int], algorithm: str) -> tuple[int, int]:
    if algorithm == "SAME":
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        return total // 2, total - total // 2
    return (0, 0) if algorithm == "VALID" else pads


def convolution(inputs: Attrs, attrs: Attrs) -> dict[str, np.ndarray]:
    """The reference of conv2d and conv3d."""
    x, filters, groups = inputs["Input"], inputs["Filter"], attrs["groups"]
    last = attrs["data_format"] in ("NHWC", "NDHWC")
    x = np.moveaxis(x, -1, 1) if last else x
    sizes, windows, strides = x.shape[2:], filters.shape[2:], attrs["strides"]
    dilations = [1] * len(sizes) if attrs["padding_algorithm"] == "SAME" else attrs["dilations"]
    around = [
        settled_padding(*one, attrs["padding_algorithm"]) for one in zip(sizes, windows, strides, padding(attrs, len(sizes)))
    ]
    outs = [
        (size + sum(pads) - dilation * (window - 1) - 1) // stride + 1
        for size, window, stride, dilation, pads in zip(sizes, windows, strides, dilations, around)
    ]
    x = np.pad(x, ((0, 0), (0, 0), *around))
    out = np.zeros((len(x), len(filters), *outs))
    each, made = filters.shape[1], len(filters) // groups
    for g, tap in itertools.product(range(groups), np.ndindex(*windows)):
        seen = tuple(slice(t * d, t * d + s * (o - 1) + 1, s) for t, d, s, o in zip(tap, dilations, strides, outs))
        out[:, g * made : (g + 1) * made] += np.einsum(
            "nc...,oc->no...",
            x[(slice(None), slice(g * each, (g + 1) * each), *seen)],
            filters[(slice(g * made, (g + 1) * made), slice(None), *tap)],
        )
    return {"Output": np.moveaxis(out, 1, -1) if last else out}


def filtered(*shape: int, filters: Sequence[int]) -> dict[str, np.ndarray]:
    return {"Input": array(*shape), "Filter": array(*filters, seed=1)}


def filled(window: Sequence[int], images: int, channels: int, outs: int, ins: int) -> dict[str, np.ndarray]:
    """Images, or volumes, of 4 pixels along each axis, and filters."""
    return filtered(images, channels, *[4] * len(window), filters=(outs, ins, *window))


def convolution_cases(plain: dict[str, Any], window: Sequence[int]) -> Cases:
    """Cases that conv2d and conv3d share. plain: valid inputs; window: the shape of the windows of further inputs."""
    ones = [1] * len(window)
    return {
        "one element": (filtered(1, 1, *ones, filters=[1, 1, *ones]), {}),
        "no images": (filled(window, 0, 2, 3, 2), {}),
        "no channels": (filled(window, 2, 0, 3, 0), {}),
        "no filters": (filled(window, 2, 2, 0, 2), {}),
        "any layout": (plain, {"data_format": "AnyLayout"}),
    }


def convolution_tests(
    op_type: str, cases: Cases, plain: dict[str, Any], window: Sequence[int], refusals: dict[str, Any]
) -> Callable[..., None]:
    """Tests conv2d and conv3d; plain and window as of convolution_cases."""
    ones = [1] * (len(window) - 1)
    return op_tests(
        op_type,
        convolution,
        cases,
        gradients=["Input", "Filter"],
        refusals={
            "other channels": (filled(window, 2, 4, 3, 3), {}, pm.ShapeError, "Filter has 3 input channels, Input has 4"),
            "filters and groups": (filled(window, 2, 4, 3, 2), {"groups": 2}, pm.ShapeError, "3 output channels 2 groups"),
            "stride 0": (plain, {"strides": [0, *ones]}, pm.ProgramError, "strides 0"),
            "no groups": (plain, {"groups": 0}, pm.ProgramError, "groups 0"),
            "negative padding": (plain, {"paddings": [-1, *ones]}, pm.ProgramError, "paddings -1"),
            **refusals,
        },
        tolerance={"float32": 1e-5},  # sums of up to 100 products
    )


def pooled_ranges(size: int, window: int, stride: int, pads: tuple[int, int], attrs: Attrs) -> list[tuple[int, int, int]]:
    """For each output: first and last input, and number of positions including the padding."""
    if attrs["global_pooling"]:
        return [(0, size, size)]
    if attrs["adaptive"]:
        bounds = [(o * size // window, -(-(o + 1) * size // window)) for o in range(window)]
        return [(begin, end, end - begin) for begin, end in bounds]
    before, after = settled_padding(size, window, stride, pads, attrs["padding_algorithm"])
    room = size + before + after - window
    firsts = [o * stride - before for o in range((-(-room // stride) if attrs["ceil_mode"] else room // stride) + 1)]
    # The padding at the end counts with the width of that at the beginning.
    lasts = [min(first + window, size + before) for first in firsts]
    return [(max(first, 0), min(last, size), max(last - first, 1)) for first, last in zip(firsts, lasts)]


def pooling(inputs: Attrs, attrs: Attrs) -> dict[str, np.ndarray]:
    """The reference of pool2d and pool3d."""
    last = attrs["data_format"] in ("NHWC", "NDHWC")
    x = np.moveaxis(inputs["X"], -1, 1) if last else inputs["X"]
    sizes = zip(x.shape[2:], attrs["ksize"], attrs["strides"], padding(attrs, x.ndim - 2))
    axes = [pooled_ranges(*size, attrs) for size in sizes]
    out = np.zeros((*x.shape[:2], *map(len, axes)))
    for place in np.ndindex(*out.shape[2:]):
        windows = [axis[i] for axis, i in zip(axes, place)]
        part = x[(slice(None), slice(None), *[slice(begin, end) for begin, end, _ in windows])]
        inside, padded = np.prod(part.shape[2:]), np.prod([window[2] for window in windows])
        along = tuple(range(2, x.ndim))
        if attrs["pooling_type"] == "max":
            value = part.max(axis=along)
        else:
            value = part.sum(axis=along) / (inside if attrs["exclusive"] else padded)
        out[(slice(None), slice(None), *place)] = value
    return {"Out": np.moveaxis(out, 1, -1) if last else out}


def pool(kind: str, *ksize: int, **more: Any) -> Attrs:
    return {"pooling_type": kind, "ksize": list(ksize), **more}


def pooling_tests(
    op_type: str, x: dict[str, Any], geometries: dict[str, Attrs], cases: Cases, refusals: dict[str, Any]
) -> Callable[..., None]:
    """Tests pool2d and pool3d. geometries: attributes of windows, each of which is taken with every kind of pooling."""
    axes = x["X"].ndim - 2
    twos, ones = [2] * axes, [1] * axes
    kinds = {
        "largest": {"pooling_type": "max"},
        "mean": {"pooling_type": "avg"},
        "mean with padding": {"pooling_type": "avg", "exclusive": False},
    }
    rest = [4] * (axes - 1)
    return op_tests(
        op_type,
        pooling,
        cases={
            **{f"{kind}, {name}": (x, {**one, **more}) for kind, one in kinds.items() for name, more in geometries.items()},
            **cases,
            "one element": ({"X": array(1, 1, *ones)}, pool("max", *ones)),
            "no images": ({"X": array(0, 3, 4, *rest)}, pool("avg", *twos)),
            "no channels": ({"X": array(2, 0, 4, *rest)}, pool("max", *twos)),
        },
        gradients=["X"],
        refusals={
            "no kind": (x, {"ksize": twos}, pm.ProgramError, "pooling_type missing"),
            "unknown kind": (x, pool("sum", *twos), pm.ProgramError, "pooling_type sum max avg"),
            "window of nothing": (x, pool("max", 0, *twos[1:]), pm.ProgramError, "ksize 0"),
            "stride 0": (x, pool("max", *twos, strides=[0, *ones[1:]]), pm.ProgramError, "strides 0"),
            **refusals,
        },
    )


def first_of_equal_elements_tests(op_type: str, axes: int) -> Callable[[], None]:
    def test() -> None:
        """The first of equal elements gets the gradient."""
        x = np.ones((1,) * axes + (2, 4), "float32")
        attrs = pool("max", *[1] * (axes - 2), 2, 2, strides=[*[1] * (axes - 2), 2, 2])
        gradient = np.reshape(np.array([2, 3], "float32"), (1,) * (axes + 1) + (2,))
        found = run_op(f"{op_type}_grad", {"X": x, "Out": x[..., :1, ::2], "Out@GRAD": gradient}, attrs)["X@GRAD"]
        np.testing.assert_array_equal(found, np.reshape([[2, 0, 3, 0], [0, 0, 0, 0]], x.shape))

    return test


def nan_is_largest_tests(op_type: str, axes: int) -> Callable[..., None]:
    @pytest.mark.parametrize("where", range(2**axes))
    def test(where: int) -> None:
        x = np.zeros((1, 1) + (2,) * axes)
        x.flat[where] = np.nan
        assert np.isnan(run_op(op_type, {"X": x}, pool("max", *[2] * axes))["Out"]).all()

    return test
