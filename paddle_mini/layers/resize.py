# Layers that resize images, lines and volumes.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import ProgramError, ShapeError
from ..errors import shown
from ..variable import Variable
from .emit import emit, known_dim, layer_name, refuse, require_variable, whole


def resize_bilinear(
    input: Variable,
    out_shape: Sequence[int] | Variable | None = None,
    scale: float | Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Bilinear resizing: each pixel is interpolated from the four source pixels around its position.

    input: [N, C, H, W], or [N, H, W, C] with data_format="NHWC". out_shape: [height, width], or an int32 Variable of
    them; scale: or this multiple of input's, rounded down, which may be a float32 Variable. align_corners: the centers of
    the corner pixels lie over each other; else align_mode 0 lays centers of pixels over each other, 1 their corners.
    Returns images of that size.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.resize_bilinear(image, scale=2.0).shape
        (-1, 3, 16, 16)
    """
    return _resized("bilinear", input, out_shape, scale, data_format, name, align_corners=align_corners, align_mode=align_mode)


def resize_nearest(
    input: Variable,
    out_shape: Sequence[int] | Variable | None = None,
    scale: float | Variable | None = None,
    align_corners: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Nearest-neighbour resizing. Arguments are as in resize_bilinear.

    Args:
        input: [images, channels, height, width]
        out_shape: [height, width] of the result, or an int32 Variable of them
        scale: a factor, or a float32 Variable of it, instead of out_shape
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
    out_shape: Sequence[int] | Variable | None = None,
    scale: float | Variable | None = None,
    align_corners: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Bicubic resizing: each pixel is interpolated from the sixteen source pixels around its position.

    input: [N, C, H, W], or [N, H, W, C] with data_format="NHWC". out_shape and scale: as in resize_bilinear.
    align_corners: the centers of the corner pixels lie over each other; else those of all pixels.
    Returns images of that size.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.resize_bicubic(image, [12, 16]).shape
        (-1, 3, 12, 16)
    """
    return _resized("bicubic", input, out_shape, scale, data_format, name, align_corners=align_corners)


def resize_linear(
    input: Variable,
    out_shape: Sequence[int] | Variable | None = None,
    scale: float | Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCW",
    name: str | None = None,
) -> Variable:
    """Linear resizing of lines: each element is interpolated from the two around its position.

    input: [N, C, W], or [N, W, C] with data_format="NWC". out_shape: [width]; it and scale are as in resize_bilinear.
    align_corners: the centers of the outermost elements lie over each other; else align_mode 0 lays centers of elements
    over each other, 1 their corners. Returns lines of that length.
    Example:
        >>> line = pm.layers.data("line", [-1, 3, 8])
        >>> pm.layers.resize_linear(line, [12]).shape
        (-1, 3, 12)
    """
    return _resized("linear", input, out_shape, scale, data_format, name, align_corners=align_corners, align_mode=align_mode)


def resize_trilinear(
    input: Variable,
    out_shape: Sequence[int] | Variable | None = None,
    scale: float | Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Variable:
    """Trilinear resizing of volumes: each element is interpolated from the eight around its position.

    input: [N, C, D, H, W], or [N, D, H, W, C] with data_format="NDHWC". out_shape: [depth, height, width]; it and
    scale are as in resize_bilinear. align_corners: the centers of the outermost elements lie over each other; else
    align_mode 0 lays centers of elements over each other, 1 their corners. Returns volumes of that size.
    Example:
        >>> volume = pm.layers.data("volume", [-1, 3, 4, 8, 8])
        >>> pm.layers.resize_trilinear(volume, scale=2.0).shape
        (-1, 3, 8, 16, 16)
    """
    return _resized("trilinear", input, out_shape, scale, data_format, name, align_corners=align_corners, align_mode=align_mode)


def image_resize(
    input: Variable,
    out_shape: Sequence[int] | Variable | None = None,
    scale: float | Variable | None = None,
    resample: str = "BILINEAR",
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str | None = None,
    name: str | None = None,
) -> Variable:
    """Resizing by the method that `resample` names: the function resize_linear, resize_bilinear, and so on, has its rules.

    Args:
        input: lines, images or volumes, as the method takes them
        out_shape: the size of the result, or an int32 Variable of it
        scale: a factor of all axes, or a float32 Variable of it, instead of out_shape
        resample: "LINEAR", "BILINEAR", "TRILINEAR", "NEAREST" or "BICUBIC"
        align_corners: whether the corners' centers stay where they are
        align_mode: 0 or 1, of the linear methods
        data_format: the order of the axes, such as "NHWC"; None: the channels before the axes of an image
    Returns:
        the images of this size
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.image_resize(image, [12, 16], resample="NEAREST").shape
        (-1, 3, 12, 16)
    """
    method = resample.lower() if isinstance(resample, str) else resample
    if method not in _LAYOUTS:
        known = ", ".join(repr(other.upper()) for other in _LAYOUTS)
        refuse(ProgramError, f"image_resize: resample is {shown(resample)}, it must be one of {known}")
    attrs = {"align_corners": align_corners, **({"align_mode": align_mode} if "linear" in method else {})}
    return _resized(method, input, out_shape, scale, data_format or _LAYOUTS[method][0], name, **attrs)


def image_resize_short(input: Variable, out_short_len: int, resample: str = "BILINEAR", name: str | None = None) -> Variable:
    """Images whose shorter side has `out_short_len` pixels, with the proportions that they have.

    Args:
        input: [N, C, H, W]; height and width are known
        out_short_len: pixels of the shorter side of the result
        resample: "BILINEAR", "NEAREST" or "BICUBIC"
    Returns:
        the images of this size; the longer side is rounded
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 12])
        >>> pm.layers.image_resize_short(image, 6).shape
        (-1, 3, 6, 9)
    """
    require_variable("image_resize_short", input)
    short = whole("image_resize_short", "out_short_len", out_short_len)
    sides = [known_dim(input, axis, "image_resize_short") for axis in (2, 3)]
    if min(sides) < 1:
        refuse(ShapeError, f"image_resize_short: input has shape {list(input.shape)}, which has no pixels")
    factor = short / min(sides)
    sizes = [short if side == min(sides) else int(side * factor + 0.5) for side in sides]
    return image_resize(input, sizes, resample=resample, name=name)


_LAYOUTS = {
    "linear": ("NCW", "NWC"),
    "bilinear": ("NCHW", "NHWC"),
    "trilinear": ("NCDHW", "NDHWC"),
    "nearest": ("NCHW", "NHWC"),
    "bicubic": ("NCHW", "NHWC"),
}


def _resized(
    method: str,
    input: Variable,
    out_shape: Sequence[int] | Variable | None,
    scale: float | Variable | None,
    data_format: str,
    name: str | None,
    **attrs: Any,
) -> Variable:
    layer, layouts = f"resize_{method}", _LAYOUTS[method]
    if data_format not in layouts:
        refuse(ProgramError, f"{layer}: data_format is {shown(data_format)}, it must be {layouts[0]!r} or {layouts[1]!r}")
    # PaddlePaddle knows these two for any number of axes.
    attrs.update(interp_method=method, data_layout="NCHW" if data_format == layouts[0] else "NHWC")
    axes = ["depth", "height", "width"][5 - len(data_format) :]
    if (out_shape is None) == (scale is None):
        refuse(ProgramError, f"{layer}: give either out_shape or scale")
    inputs = {"X": input}
    if isinstance(out_shape, Variable):
        inputs["OutSize"] = out_shape
    elif isinstance(scale, Variable):
        inputs["Scale"] = scale
    elif out_shape is None:
        attrs["scale"] = [scale] * len(axes)
    elif np.shape(out_shape) != (len(axes),):
        refuse(ProgramError, f"{layer}: out_shape is {shown(out_shape)}, it must be [{', '.join(axes)}]")
    else:
        attrs.update({f"out_{axis[0]}": whole(layer, "out_shape", size) for axis, size in zip(axes, out_shape)})
    return emit(f"{method}_interp_v2", inputs, attrs, name=name or layer_name(layer))
