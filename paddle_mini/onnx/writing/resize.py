# Exporters of interpolation.
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..tensors import Unsupported
from .neural import channels_back, channels_first, sizes_of
from .op import OpWriter, exporter


def _sizes(o: OpWriter, last: bool) -> tuple[list[int], list[float], list[int]]:
    """The sizes before, the ratios that positions are multiplied with, and the sizes after; all constant."""
    o.refuse("OutSize", "SizeTensor", "Scale")
    old, scale = sizes_of(o.shape(), last), o.attr("scale")
    names = ("out_d", "out_h", "out_w")[-len(old) :]
    if any(size < 0 for size in old):
        raise Unsupported(f"the shape {o.shape()} of '{o.var().name}' must be known")
    if isinstance(scale, float):  # in operators without _v2 it sets sizes only
        new = [_scaled(size, scale) if scale > 0 else o.attr(name) for size, name in zip(old, names)]
        return old, [a / b for a, b in zip(old, new)], new
    if scale:
        return old, [1 / np.float32(factor) for factor in scale], [_scaled(*pair) for pair in zip(old, scale)]
    new = [o.attr(name) for name in names]
    return old, [a / b for a, b in zip(old, new)], new


def _scaled(size: int, factor: float) -> int:
    return int(np.float32(size) * np.float32(factor))


Pairs = list[tuple[np.ndarray, np.ndarray]]  # for each place of the output: an element of the input, and its weight


def _resized(o: OpWriter, pairs_of: Callable[[int, float, int], Pairs]) -> None:
    """One axis after the other: elements are selected, weighted and added. pairs_of(size, ratio, count) has those of an axis."""
    rank, last = o.rank(), o.attr("data_layout").endswith("C")
    old, ratios, new = _sizes(o, last)
    if old == new:  # the operator copies images whose size does not change
        o.put(o.emit("Identity", o.x()))
        return
    x = channels_first(o, o.x(), rank, last)
    for axis, (size, ratio, count) in enumerate(zip(old, ratios, new), 2):
        shape = [-1 if i == axis else 1 for i in range(rank)]
        made = ""
        for index, weight in pairs_of(size, ratio, count):
            part = o.emit("Gather", x, o.constant(index.clip(0, size - 1), "int64"), axis=axis)
            part = part if (weight == 1).all() else o.mul(part, o.constant(weight.reshape(shape), o.dtype()))
            made = o.add(made, part) if made else part
        x = made
    o.put(channels_back(o, x, rank, last))


def _step(size: int, count: int) -> np.float32:
    """The distance of two places if the centers of the outermost pixels lie over each other."""
    return np.float32((size - 1) / (count - 1) if count > 1 else 0)


@exporter("nearest_interp", "nearest_interp_v2")
def nearest(o: OpWriter) -> None:
    def pairs_of(size: int, ratio: float, count: int) -> Pairs:
        places = np.arange(count, dtype=np.float32)
        corners = o.attr("align_corners")
        at = places * _step(size, count) + np.float32(0.5) if corners else places * np.float32(ratio)
        return [(np.floor(at), np.ones(count))]

    _resized(o, pairs_of)


@exporter("linear_interp", "linear_interp_v2", "bilinear_interp", "bilinear_interp_v2", "trilinear_interp", "trilinear_interp_v2")
def linear(o: OpWriter) -> None:
    def pairs_of(size: int, ratio: float, count: int) -> Pairs:
        places = np.arange(count, dtype=np.float32)
        if o.attr("align_corners"):
            at = places * _step(size, count)
        elif o.attr("align_mode") == 0:
            at = np.maximum(_half_pixels(ratio, count).astype(np.float32), 0)
        else:
            at = places * np.float32(ratio)
        low = np.floor(at).clip(0, size - 1)
        return [(low, 1 - (at - low)), (low + 1, at - low)]

    if not o.is_float():
        raise Unsupported(f"elements of {o.dtype()}: sums in another order are rounded otherwise")
    _resized(o, pairs_of)


@exporter("bicubic_interp", "bicubic_interp_v2")
def bicubic(o: OpWriter) -> None:
    def pairs_of(size: int, ratio: float, count: int) -> Pairs:
        number = np.float64 if o.dtype() == "float64" else np.float32
        corners = (np.arange(count, dtype=np.float32) * _step(size, count)) if o.attr("align_corners") else None
        at = (_half_pixels(ratio, count) if corners is None else corners).astype(number)
        low = np.floor(at)
        return [(low + tap, _cubic(np.abs(at - low - tap))) for tap in (-1, 0, 1, 2)]

    _resized(o, pairs_of)


def _half_pixels(ratio: float, count: int) -> np.ndarray:
    """The places if the centers of pixels lie over each other."""
    return np.float64(np.float32(ratio)) * (np.arange(count) + 0.5) - 0.5


def _cubic(distance: np.ndarray) -> np.ndarray:
    """Keys' weights (1981) of elements at distances up to 2."""
    a = -0.75
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    return np.where(distance <= 1, near, ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a)


@exporter("grid_sampler")
def grid_sampler(o: OpWriter) -> None:
    if o.attr("mode") != "bilinear":
        raise Unsupported(f"mode {o.attr('mode')}: ONNX rounds halves otherwise")
    padding = {"zeros": "zeros", "border": "border", "reflection": "reflection"}[o.attr("padding_mode")]
    mode = "linear" if o.writer.opset >= 20 else "bilinear"
    attrs = {"mode": mode, "padding_mode": padding, "align_corners": int(o.attr("align_corners"))}
    o.put(o.emit("GridSample", o.x(), o.x("Grid"), **attrs), "Output")
