# Exporters of pooling.
from __future__ import annotations

import numpy as np

from ..tensors import Unsupported
from .neural import CHANNELS_LAST, channels_back, channels_first, pads_of, sizes_of
from .op import OpWriter, exporter


@exporter("pool2d", "pool3d")
def pool(o: OpWriter) -> None:
    rank, last = o.rank(), o.attr("data_format") in CHANNELS_LAST
    sizes, kernel = sizes_of(o.shape(), last), list(o.attr("ksize"))
    largest = o.attr("pooling_type") == "max"
    x = channels_first(o, o.x(), rank, last)
    axes = list(range(2, rank))
    if o.attr("adaptive") and largest and any(size != 1 for size in kernel):
        raise Unsupported("adaptive maxima")
    if o.attr("global_pooling") or (o.attr("adaptive") and all(size == 1 for size in kernel)):
        made = o.reduce("ReduceMax" if largest else "ReduceMean", x, axes, keep=True)
    elif o.attr("adaptive") and not largest:
        made = _adaptive(o, x, sizes, kernel)
    else:
        made = _windows(o, x, sizes, kernel, largest)
    o.put(channels_back(o, made, rank, last))


def _windows(o: OpWriter, x: str, sizes: list[int], kernel: list[int], largest: bool) -> str:
    pads = pads_of(o, sizes, kernel, [1] * len(kernel))
    attrs = {"kernel_shape": kernel, "strides": list(o.attr("strides")), "pads": pads, "ceil_mode": int(o.attr("ceil_mode"))}
    if attrs["ceil_mode"]:
        # ONNX leaves out a window that begins in the padding after the image; the operator does not.
        if any(size < 0 for size in sizes):
            raise Unsupported("ceil_mode of an image whose size must be known")
        if any(_begins_outside(*facts) for facts in zip(sizes, kernel, o.attr("strides"), pads, pads[len(kernel) :])):
            raise Unsupported("ceil_mode with a window in the padding")
    if largest:
        return o.emit("MaxPool", x, **attrs)
    if not o.attr("exclusive") and pads[: len(kernel)] != pads[len(kernel) :]:
        raise Unsupported("a mean that includes unequal paddings")
    if not o.attr("exclusive") and attrs["ceil_mode"]:
        raise Unsupported("a mean with ceil_mode that includes padding")
    return o.emit("AveragePool", x, count_include_pad=int(not o.attr("exclusive")), **attrs)


def _begins_outside(size: int, width: int, step: int, low: int, high: int) -> bool:
    windows = -(-(size + low + high - width) // step) + 1
    return (windows - 1) * step >= size + low


def _adaptive(o: OpWriter, x: str, sizes: list[int], wanted: list[int]) -> str:
    """Means of parts that cover the image: a product with the weights of each axis."""
    if any(size < 0 for size in sizes):
        raise Unsupported("adaptive pooling of an image whose size must be known")
    if all(size % count == 0 for size, count in zip(sizes, wanted)):
        kernel = [size // count for size, count in zip(sizes, wanted)]
        return o.emit("AveragePool", x, kernel_shape=kernel, strides=kernel)
    matrices, letters = [], "hwd"[: len(sizes)]
    for size, count in zip(sizes, wanted):
        weights = np.zeros((size, count))
        for i in range(count):
            low, high = i * size // count, -(-(i + 1) * size // count)
            weights[low:high, i] = 1 / (high - low)
        matrices.append(o.constant(weights, o.dtype()))
    terms = ",".join(f"{letter}{letter.upper()}" for letter in letters)
    return o.emit("Einsum", x, *matrices, equation=f"nc{letters},{terms}->nc{letters.upper()}")


@exporter("max_pool2d_with_index", "max_pool3d_with_index")
def max_pool_with_index(o: OpWriter) -> None:
    shape = o.shape()
    sizes, kernel = shape[2:], list(o.attr("ksize"))
    if any(size < 0 for size in sizes):
        o.static()
    strides, pads = list(o.attr("strides")), list(o.attr("paddings")) * 2
    if o.attr("global_pooling"):
        kernel, strides, pads = sizes, sizes, [0] * 2 * len(sizes)
    elif o.attr("adaptive"):
        if any(size % count for size, count in zip(sizes, kernel)):
            raise Unsupported("adaptive pooling with windows of several sizes")
        kernel = strides = [size // count for size, count in zip(sizes, kernel)]
        pads = [0] * 2 * len(sizes)
    made = o.emit_many("MaxPool", 2, o.x(), kernel_shape=kernel, strides=strides, pads=pads)
    o.put(made[0])
    # ONNX counts through all images and channels, the operator within a plane.
    o.put(o.cast(o.emit("Mod", made[1], o.constant(int(np.prod(sizes)), "int64")), "int32"), "Mask")
