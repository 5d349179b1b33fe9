# Layers that pad images, and layers of patches of images.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import ProgramError
from ..errors import shown
from ..variable import Variable
from .conv import Size, sizes
from .emit import emit, layer_name, refuse
from .rearrange import squeeze, unsqueeze


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


def im2sequence(
    input: Variable,
    filter_size: Size = 1,
    stride: Size = 1,
    padding: Size = 0,
    input_image_size: Variable | None = None,
    out_stride: Size = 1,
    name: str | None = None,
) -> Variable:
    """The patches of each image as a sequence of rows, from left to right and from top to bottom.

    Args:
        input: [N, C, H, W] float
        filter_size: height and width of a patch: one number, or both
        stride: pixels from one patch to the next: one number, or [height, width]
        padding: zeros around the image: one number, [height, width], or [above, left, below, right]
        input_image_size: [N, 2] of input's type: height and width of the part of each image that has patches, before
            out_stride divides it; None: all images are whole
        out_stride: one number, or [height, width]; not read without input_image_size
    Returns:
        [T, C height width of a patch], a sequence for each image
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.im2sequence(image, filter_size=2, stride=2).shape
        (-1, 12)
    """
    attrs = {
        "kernels": sizes(filter_size, "filter_size"),
        "strides": sizes(stride, "stride"),
        "paddings": _around(padding, "padding"),
        "out_stride": sizes(out_stride, "out_stride"),
    }
    return emit("im2sequence", {"X": input, "Y": input_image_size}, attrs, name=name)


def _patches(kernel_sizes: Size, strides: Size, paddings: Size, dilations: Size) -> dict[str, Any]:
    return {
        "kernel_sizes": sizes(kernel_sizes, "kernel_sizes"),
        "strides": sizes(strides, "strides"),
        "paddings": _around(paddings, "paddings"),
        "dilations": sizes(dilations, "dilations"),
    }


def _around(padding: Size, what: str) -> list[int]:
    """Pixels above, left of, below and right of an image."""
    around = sizes(padding, what, low=0, ends="top, left, bottom, right")
    return around if len(around) == 4 else around * 2
