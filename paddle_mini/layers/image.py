# Layers that resize and pad images, lines and volumes, and extract and fold patches.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import ProgramError
from ..errors import shown
from ..variable import Variable
from .conv import Size, sizes
from .emit import emit, layer_name, refuse, whole
from .rearrange import squeeze, unsqueeze


def resize_bilinear(
    input: Variable,
    out_shape: Sequence[int] | None = None,
    scale: float | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Bilinear resizing: each pixel is interpolated from the four source pixels around its position.

    input: [N, C, H, W], or [N, H, W, C] with data_format="NHWC". out_shape: [height, width]; scale: or
    this multiple of input's, rounded down. align_corners: the centers of the corner pixels lie over each
    other; else align_mode 0 lays centers of pixels over each other, 1 their corners.
    Returns images of that size.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.resize_bilinear(image, scale=2.0).shape
        (-1, 3, 16, 16)
    """
    return _resized("bilinear", input, out_shape, scale, data_format, name, align_corners=align_corners, align_mode=align_mode)


def resize_nearest(
    input: Variable,
    out_shape: Sequence[int] | None = None,
    scale: float | None = None,
    align_corners: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Nearest-neighbour resizing. Arguments are as in resize_bilinear.

    Args:
        input: [images, channels, height, width]
        out_shape: [height, width] of the result
        scale: a factor, instead of out_shape
        align_corners: whether the corners' centers stay where they are
        data_format: "NCHW" or "NHWC"
    Returns:
        the images of this size
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> pm.layers.resize_nearest(image, [12, 12]).shape
        (-1, 4, 12, 12)
    """
    return _resized("nearest", input, out_shape, scale, data_format, name, align_corners=align_corners)


def resize_bicubic(
    input: Variable,
    out_shape: Sequence[int] | None = None,
    scale: float | None = None,
    align_corners: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Bicubic resizing: each pixel is interpolated from the sixteen source pixels around its position.

    input: [N, C, H, W], or [N, H, W, C] with data_format="NHWC". out_shape: [height, width]; scale: or this multiple of
    input's, rounded down. align_corners: the centers of the corner pixels lie over each other; else those of all pixels.
    Returns images of that size.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.resize_bicubic(image, [12, 16]).shape
        (-1, 3, 12, 16)
    """
    return _resized("bicubic", input, out_shape, scale, data_format, name, align_corners=align_corners)


def resize_linear(
    input: Variable,
    out_shape: Sequence[int] | None = None,
    scale: float | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCW",
    name: str | None = None,
) -> Variable:
    """Linear resizing of lines: each element is interpolated from the two around its position.

    input: [N, C, W], or [N, W, C] with data_format="NWC". out_shape: [width]; scale: or this multiple of
    input's, rounded down. align_corners: the centers of the outermost elements lie over each other; else align_mode 0 lays
    centers of elements over each other, 1 their corners. Returns lines of that length.
    Example:
        >>> line = pm.layers.data("line", [-1, 3, 8])
        >>> pm.layers.resize_linear(line, [12]).shape
        (-1, 3, 12)
    """
    return _resized("linear", input, out_shape, scale, data_format, name, align_corners=align_corners, align_mode=align_mode)


def resize_trilinear(
    input: Variable,
    out_shape: Sequence[int] | None = None,
    scale: float | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Variable:
    """Trilinear resizing of volumes: each element is interpolated from the eight around its position.

    input: [N, C, D, H, W], or [N, D, H, W, C] with data_format="NDHWC". out_shape: [depth, height, width];
    scale: or this
    multiple of input's, rounded down. align_corners: the centers of the outermost elements lie over each other; else
    align_mode 0 lays centers of elements over each other, 1 their corners. Returns volumes of that size.
    Example:
        >>> volume = pm.layers.data("volume", [-1, 3, 4, 8, 8])
        >>> pm.layers.resize_trilinear(volume, scale=2.0).shape
        (-1, 3, 8, 16, 16)
    """
    return _resized("trilinear", input, out_shape, scale, data_format, name, align_corners=align_corners, align_mode=align_mode)


def pad2d(
    input: Variable,
    paddings: Sequence[int] = (0, 0, 0, 0),
    mode: str = "constant",
    pad_value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Images with a border: paddings is [top, bottom, left, right].

    input: [N, C, H, W], or [N, H, W, C] with data_format="NHWC". mode: "constant": pad_value; "reflect":
    the image mirrored at its outermost pixels; "replicate" (or "edge"): these pixels; "circular": the
    image from its other end.
    Returns [N, C, H + top + bottom, W + left + right].
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.pad2d(image, [1, 1, 2, 2], mode="reflect").shape
        (-1, 3, 10, 12)
    """
    if data_format not in ("NCHW", "NHWC"):
        refuse(ProgramError, f"pad2d: data_format is {shown(data_format)}, it must be 'NCHW' or 'NHWC'")
    if np.shape(paddings) != (4,):
        refuse(ProgramError, f"pad2d: paddings is {shown(paddings)}, it must be [top, bottom, left, right]")
    prefix = layer_name("pad2d", name)
    top, bottom, left, right = paddings
    depth = 2 if data_format == "NCHW" else 1
    attrs = {
        "paddings": [left, right, top, bottom, 0, 0],
        "mode": "replicate" if mode == "edge" else mode,
        "value": pad_value,
        "data_format": "NCDHW" if data_format == "NCHW" else "NDHWC",
    }
    return squeeze(emit("pad3d", {"X": unsqueeze(input, depth, name=prefix)}, attrs, name=prefix), depth, name=prefix)


def unfold(
    x: Variable, kernel_sizes: Size, strides: Size = 1, paddings: Size = 0, dilations: Size = 1, name: str | None = None
) -> Variable:
    """The patches of images, one per column: [N, C · height · width, patches].

    x: [N, C, H, W] float. kernel_sizes, strides, dilations: one number, or [height, width]. paddings: zeros
    around the image: one number, [height, width], or [above, left, below, right]. Returns that shape.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.unfold(image, 3).shape
        (-1, 27, 36)
    """
    return emit("unfold", {"X": x}, _patches(kernel_sizes, strides, paddings, dilations), name=name)


def fold(
    x: Variable,
    output_sizes: Size,
    kernel_sizes: Size,
    strides: Size = 1,
    paddings: Size = 0,
    dilations: Size = 1,
    name: str | None = None,
) -> Variable:
    """Images of output_sizes whose pixels are the sums over the patches that hold them: the transpose of
    unfold, with its arguments.

    x: [N, C · height · width, patches] float. kernel_sizes, strides, paddings, dilations: as in unfold. Returns
    [N, C, *output_sizes].
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.fold(pm.layers.unfold(image, 2, strides=2), 8, 2, strides=2).shape
        (-1, 3, 8, 8)
    """
    attrs = {"output_sizes": sizes(output_sizes, "output_sizes"), **_patches(kernel_sizes, strides, paddings, dilations)}
    return emit("fold", {"X": x}, attrs, name=name)


def _patches(kernel_sizes: Size, strides: Size, paddings: Size, dilations: Size) -> dict[str, Any]:
    around = sizes(paddings, "paddings", low=0, ends="top, left, bottom, right")
    return {
        "kernel_sizes": sizes(kernel_sizes, "kernel_sizes"),
        "strides": sizes(strides, "strides"),
        "paddings": around if len(around) == 4 else around * 2,
        "dilations": sizes(dilations, "dilations"),
    }


_LAYOUTS = {"linear": ("NCW", "NWC"), "trilinear": ("NCDHW", "NDHWC")}


def _resized(
    method: str,
    input: Variable,
    out_shape: Sequence[int] | None,
    scale: float | None,
    data_format: str,
    name: str | None,
    **attrs: Any,
) -> Variable:
    layer, layouts = f"resize_{method}", _LAYOUTS.get(method, ("NCHW", "NHWC"))
    if data_format not in layouts:
        refuse(ProgramError, f"{layer}: data_format is {shown(data_format)}, it must be {layouts[0]!r} or {layouts[1]!r}")
    # PaddlePaddle knows these two for any number of axes.
    attrs.update(interp_method=method, data_layout="NCHW" if data_format == layouts[0] else "NHWC")
    axes = ["depth", "height", "width"][5 - len(data_format) :]
    if (out_shape is None) == (scale is None):
        refuse(ProgramError, f"{layer}: give either out_shape or scale")
    if out_shape is None:
        attrs["scale"] = [scale] * len(axes)
    elif np.shape(out_shape) != (len(axes),):
        refuse(ProgramError, f"{layer}: out_shape is {shown(out_shape)}, it must be [{', '.join(axes)}]")
    else:
        attrs.update({f"out_{axis[0]}": whole(layer, "out_shape", size) for axis, size in zip(axes, out_shape)})
    return emit(f"{method}_interp_v2", {"X": input}, attrs, name=name or layer_name(layer))
