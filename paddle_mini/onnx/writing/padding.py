# Exporters of padding, and of patches of images.
from __future__ import annotations

import numpy as np

from .op import OpWriter, exporter

_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "replicate": "edge", "circular": "wrap"}


def _pad(o: OpWriter, x: str, pairs: list[tuple[int, int]], mode: str, value: float) -> str:
    pads = o.ints([low for low, _ in pairs] + [high for _, high in pairs])
    if mode == "wrap":
        o.require_opset(19, "Pad with mode wrap")
    if mode == "constant":
        return o.emit("Pad", x, pads, o.like(value), mode=mode)
    return o.emit("Pad", x, pads, mode=mode)


@exporter("pad")
def pad(o: OpWriter) -> None:
    given = o.attr("paddings")
    o.put(_pad(o, o.x(), list(zip(given[::2], given[1::2])), "constant", o.attr("pad_value")))


@exporter("pad2d")
def pad2d(o: OpWriter) -> None:
    top, bottom, left, right = o.attr("paddings")
    pairs = [(top, bottom), (left, right)]
    around = [(0, 0), *pairs, (0, 0)] if o.attr("data_format") == "NHWC" else [(0, 0), (0, 0), *pairs]
    o.put(_pad(o, o.x(), around, _MODES[o.attr("mode")], o.attr("pad_value")))


@exporter("pad3d")
def pad3d(o: OpWriter) -> None:
    o.refuse("Paddings")
    given = list(o.attr("paddings"))
    pairs = list(zip(given[::2], given[1::2]))[::-1]  # the width comes first
    around = [(0, 0), *pairs, (0, 0)] if o.attr("data_format") == "NDHWC" else [(0, 0), (0, 0), *pairs]
    o.put(_pad(o, o.x(), around, _MODES[o.attr("mode")], o.attr("value")))


def _patches(o: OpWriter, sizes: list[int]) -> tuple[list[int], list[np.ndarray]]:
    """The four paddings, and for each axis the positions of all patches' pixels in the padded image, [pixels, patches]."""
    pads = list(o.attr("paddings"))
    pads = pads * 2 if len(pads) == 2 else pads
    places = []
    for i, (size, width, step, gap) in enumerate(zip(sizes, o.attr("kernel_sizes"), o.attr("strides"), o.attr("dilations"))):
        count = (size + pads[i] + pads[i + 2] - gap * (width - 1) - 1) // step + 1
        places.append(np.arange(width)[:, None] * gap + np.arange(count) * step)
    return pads, places


@exporter("unfold")
def unfold(o: OpWriter) -> None:
    shape = o.shape()
    if -1 in shape[1:]:
        o.static()
    (top, left, bottom, right), (rows, columns) = _patches(o, shape[2:])
    x = o.x()
    if any((top, left, bottom, right)):
        x = _pad(o, x, [(0, 0), (0, 0), (top, bottom), (left, right)], "constant", 0.0)
    x = o.emit("Gather", o.emit("Gather", x, o.constant(rows, "int64"), axis=2), o.constant(columns, "int64"), axis=4)
    # [images, channels, rows of a patch, patches, columns of a patch, patches]
    x = o.transpose(x, [0, 1, 2, 4, 3, 5])
    o.put(o.reshape(x, [0, shape[1] * rows.shape[0] * columns.shape[0], rows.shape[1] * columns.shape[1]]), "Y")


@exporter("fold")
def fold(o: OpWriter) -> None:
    """The transpose of unfold: each axis of patches is multiplied with a matrix that adds pixels at their places."""
    shape = o.shape()
    if -1 in shape[1:]:
        o.static()
    sizes = list(o.attr("output_sizes"))
    pads, (rows, columns) = _patches(o, sizes)
    channels = shape[1] // (rows.shape[0] * columns.shape[0])
    x = o.reshape(o.x(), [0, channels, *(n for i in (0, 1) for n in (rows.shape[i], columns.shape[i]))])
    matrices = []
    for axis, places in enumerate((rows, columns)):
        at = np.arange(sizes[axis]) + pads[axis]
        matrices.append(o.constant((at[:, None, None] == places).astype(float), o.dtype()))
    o.put(o.emit("Einsum", x, *matrices, equation="ncijpq,hip,wjq->nchw"), "Y")
