# Exporters of interpolation.
from __future__ import annotations

import numpy as np

from ..tensors import Unsupported
from .neural import CHANNELS_LAST, channels_back, channels_first, sizes_of
from .op import OpWriter, exporter


def _sizes(o: OpWriter, last: bool) -> tuple[list[int], list[float], list[int]]:
    """The sizes before, the ratios that positions are multiplied with, and the sizes after; all constant."""
    o.refuse("OutSize", "SizeTensor", "Scale")
    old, scale = sizes_of(o.shape(), last), o.attr("scale")
    names = ("out_d", "out_h", "out_w")[-len(old) :]
    if any(size < 0 for size in old):
        raise Unsupported(f"the shape {o.shape()} of '{o.var().name}' must be known")
    if isinstance(scale, float):  # in nearest_interp and bilinear_interp it sets sizes only
        new = [int(np.float32(size) * np.float32(scale)) if scale > 0 else o.attr(name) for size, name in zip(old, names)]
        return old, [a / b for a, b in zip(old, new)], new
    if scale:
        new = [int(size * factor) for size, factor in zip(old, scale)]
        return old, [1 / factor for factor in scale], new
    new = [o.attr(name) for name in names]
    return old, [a / b for a, b in zip(old, new)], new


@exporter("nearest_interp", "nearest_interp_v2")
def nearest(o: OpWriter) -> None:
    rank, last = o.rank(), o.attr("data_layout") in CHANNELS_LAST
    old, ratios, new = _sizes(o, last)
    if old == new:  # the operator copies images whose size does not change
        o.put(o.emit("Identity", o.x()))
        return
    x = channels_first(o, o.x(), rank, last)
    for axis, (size, ratio, count) in enumerate(zip(old, ratios, new), 2):
        places = np.arange(count, dtype=np.float32)
        if o.attr("align_corners"):
            step = np.float32((size - 1) / (count - 1)) if count > 1 else np.float32(0)
            index = np.floor(places * step + np.float32(0.5))
        else:
            index = np.floor(places * np.float32(ratio))
        x = o.emit("Gather", x, o.constant(index.clip(0, size - 1), "int64"), axis=axis)
    o.put(channels_back(o, x, rank, last))


@exporter("bilinear_interp", "bilinear_interp_v2")
def bilinear(o: OpWriter) -> None:
    rank, last = o.rank(), o.attr("data_layout") in CHANNELS_LAST
    old, ratios, new = _sizes(o, last)
    if old == new:
        o.put(o.emit("Identity", o.x()))
        return
    x = channels_first(o, o.x(), rank, last)
    for axis, (size, ratio, count) in enumerate(zip(old, ratios, new), 2):
        places = np.arange(count, dtype=np.float32)
        if o.attr("align_corners"):
            at = places * np.float32((size - 1) / (count - 1) if count > 1 else 0)
        elif o.attr("align_mode") == 0:
            at = np.maximum((places + np.float32(0.5)) * np.float32(ratio) - np.float32(0.5), 0)
        else:
            at = places * np.float32(ratio)
        low = np.floor(at).clip(0, size - 1)
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(rank)])
        first = o.emit("Gather", x, o.constant(low, "int64"), axis=axis)
        second = o.emit("Gather", x, o.constant((low + 1).clip(0, size - 1), "int64"), axis=axis)
        x = o.add(o.mul(first, o.constant(1 - part, o.dtype())), o.mul(second, o.constant(part, o.dtype())))
    o.put(channels_back(o, x, rank, last))


@exporter("grid_sampler")
def grid_sampler(o: OpWriter) -> None:
    if o.attr("mode") != "bilinear":
        raise Unsupported(f"mode {o.attr('mode')}: ONNX rounds halves otherwise")
    padding = {"zeros": "zeros", "border": "border", "reflection": "reflection"}[o.attr("padding_mode")]
    mode = "linear" if o.writer.opset >= 20 else "bilinear"
    attrs = {"mode": mode, "padding_mode": padding, "align_corners": int(o.attr("align_corners"))}
    o.put(o.emit("GridSample", o.x(), o.x("Grid"), **attrs), "Output")
