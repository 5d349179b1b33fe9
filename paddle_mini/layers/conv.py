# Layers on images: convolution and pooling.
from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import callsite
from .._core import ProgramError
from ..errors import shown
from ..initializer import Normal
from ..variable import Variable
from .emit import activation, add_bias, create_parameter, emit, emit_all, known_dim, layer_name, refuse, require_float, whole

Size = int | Sequence[int]


def conv2d(
    input: Variable,
    num_filters: int,
    filter_size: Size,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Variable:
    """Out = act(X ⋆ W + b), the cross-correlation of images with filters.

    input: [N, C, H, W] float, or [N, H, W, C] with data_format="NHWC"; C must be known.
    filter_size, stride, dilation: one number, or [height, width]. padding: one number,
    [height, width], [top, bottom, left, right], "SAME" or "VALID". "SAME" sets dilation to 1, as in
    PaddlePaddle, with a warning. groups: of channels that do not mix.
    Returns [N, num_filters, H', W'], H' = ⌊(H + paddings − dilation·(height − 1) − 1) / stride⌋ + 1.
    W [num_filters, C / groups, height, width] begins normal with standard deviation
    √(2 / (height·width·C)) (He et al., ICCV 2015), b [num_filters] with zeros; bias_attr=False: no bias.
    Raises ShapeError when a dimension does not fit.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 32, 32])
        >>> pm.layers.conv2d(image, num_filters=16, filter_size=3, padding=1, act="relu").shape
        (-1, 16, 32, 32)
    """
    require_float("conv2d", input)
    channels = known_dim(input, _channel_axis(data_format), "conv2d")
    num_filters, groups = whole("conv2d", "num_filters", num_filters), whole("conv2d", "groups", groups)
    if channels % groups or num_filters % groups:
        refuse(ProgramError, f"conv2d: groups {groups} must divide {channels} channels and {num_filters} filters")
    prefix = layer_name("conv2d", name)
    window = sizes(filter_size, "filter_size")
    spread = math.sqrt(2.0 / max(window[0] * window[1] * channels, 1))
    weight = create_parameter([num_filters, channels // groups, *window], input.dtype, param_attr, prefix, Normal(0.0, spread))
    attrs = {
        "strides": sizes(stride, "stride"),
        "dilations": sizes(dilation, "dilation"),
        "groups": groups,
        "data_format": data_format,
        **paddings(padding, dilation=dilation),
    }
    out = emit("conv2d", {"Input": input, "Filter": weight}, attrs, name=prefix)
    return activation(act, add_bias(out, bias_attr, num_filters, _channel_axis(data_format), prefix), prefix)


def conv2d_transpose(
    input: Variable,
    num_filters: int,
    output_size: Size | None = None,
    filter_size: Size | None = None,
    padding: Size | str = 0,
    stride: Size = 1,
    dilation: Size = 1,
    groups: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """Out = act(Wᵀ X + b), the transpose of conv2d: each pixel adds a filter's multiple to the result.

    input: [N, C, H, W] float; C must be known. filter_size: None: from output_size, for which H and W
    must be known. The other arguments are as in conv2d. Returns [N, num_filters, H', W'], with
    H' = (H − 1) · stride − paddings + dilation · (height − 1) + 1, or output_size, at most stride − 1 more.
    W [C, num_filters / groups, height, width] begins with Xavier, b [num_filters] with zeros;
    bias_attr=False: no bias. Zeiler et al., "Deconvolutional Networks", CVPR 2010.
    padding: as in conv2d, and subtracted from the result.
    Example:
        >>> image = pm.layers.data("image", [-1, 8, 16, 16])
        >>> pm.layers.conv2d_transpose(image, num_filters=3, filter_size=4, stride=2, padding=1).shape
        (-1, 3, 32, 32)
    """
    require_float("conv2d_transpose", input)
    channels = known_dim(input, 1, "conv2d_transpose")
    num_filters = whole("conv2d_transpose", "num_filters", num_filters)
    groups = whole("conv2d_transpose", "groups", groups)
    if channels % groups or num_filters % groups:
        refuse(ProgramError, f"conv2d_transpose: groups {groups} must divide {channels} channels and {num_filters} filters")
    attrs = {"strides": sizes(stride, "stride"), "dilations": sizes(dilation, "dilation"), "groups": groups}
    attrs |= paddings(padding, dilation=dilation)
    if output_size is not None:
        attrs["output_size"] = sizes(output_size, "output_size")
    window = window_for("conv2d_transpose", input, attrs, 2) if filter_size is None else sizes(filter_size, "filter_size")
    prefix = layer_name("conv2d_transpose", name)
    weight = create_parameter([channels, num_filters // groups, *window], input.dtype, param_attr, prefix)
    out = emit("conv2d_transpose", {"Input": input, "Filter": weight}, attrs, name=prefix)
    return activation(act, add_bias(out, bias_attr, num_filters, 1, prefix), prefix)


def window_for(caller: str, input: Variable, attrs: dict[str, Any], first_axis: int) -> list[int]:
    """The filter size with which a transposed convolution gives its output_size; first_axis: of the image in the input."""
    if "output_size" not in attrs or attrs["padding_algorithm"] == "SAME":
        refuse(ProgramError, f"{caller}: filter_size is missing; give it, or output_size and paddings")
    wanted, cuts = attrs["output_size"], attrs["paddings"]
    if len(cuts) == len(wanted):
        cuts = np.repeat(cuts, 2)
    spans = [
        wanted[i] - (known_dim(input, first_axis + i, caller) - 1) * attrs["strides"][i] + cuts[2 * i] + cuts[2 * i + 1] - 1
        for i in range(len(wanted))
    ]
    if min(spans) < 0:
        refuse(
            ProgramError,
            f"{caller}: output_size is {wanted}, which is less than with any filter; for a filter of that size give "
            f"filter_size={wanted}",
        )
    return [int(span) // dilation + 1 for span, dilation in zip(spans, attrs["dilations"])]


def pool2d(
    input: Variable,
    pool_size: Size = -1,
    pool_type: str = "max",
    pool_stride: Size = 1,
    pool_padding: Size | str = 0,
    global_pooling: bool = False,
    ceil_mode: bool = False,
    exclusive: bool = True,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Variable:
    """Pooling: the maximum ("max") or the mean ("avg") of each window of an image.

    input: [N, C, H, W] float, or [N, H, W, C] with data_format="NHWC". pool_size, pool_stride,
    pool_padding: as in conv2d. global_pooling: the window is the whole image. ceil_mode: a last
    window that is not full counts. exclusive: the mean leaves padding out.
    Returns [N, C, H', W']. Raises ShapeError when a window does not fit.
    pool_type: "max" or "avg".
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 32, 32])
        >>> pm.layers.pool2d(image, pool_size=2, pool_type="max", pool_stride=2).shape
        (-1, 3, 16, 16)
    """
    _channel_axis(data_format)
    if pool_type not in ("max", "avg"):
        refuse(ProgramError, f"pool2d: pool_type is {shown(pool_type)}, it must be 'max' or 'avg'")
    if not global_pooling and isinstance(pool_size, int) and pool_size == -1:
        refuse(ProgramError, "pool2d: pool_size is missing; give it, or global_pooling=True")
    attrs = {
        "ksize": [1, 1] if global_pooling else sizes(pool_size, "pool_size"),
        "pooling_type": pool_type,
        "strides": sizes(pool_stride, "pool_stride"),
        "global_pooling": global_pooling,
        "ceil_mode": ceil_mode,
        "exclusive": exclusive,
        "data_format": data_format,
        **paddings(pool_padding, what="pool_padding"),
    }
    return emit("pool2d", {"X": input}, attrs, name=name or layer_name("pool2d"))


def max_pool2d_with_index(
    input: Variable,
    pool_size: Size,
    pool_stride: Size = 1,
    pool_padding: Size = 0,
    global_pooling: bool = False,
    adaptive: bool = False,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """The maximum of each window, and its flat index in the channel's plane.

    input: [N, C, H, W] float. Arguments are as in pool2d; adaptive: pool_size is that of the result, as in
    adaptive_pool2d. Returns ([N, C, H', W'], int32 of this shape: −1 where a window sees only padding).
    pool_stride, pool_padding, global_pooling: as in pool2d.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 32, 32])
        >>> values, index = pm.layers.max_pool2d_with_index(image, pool_size=2, pool_stride=2)
        >>> values.shape, index.dtype
        ((-1, 3, 16, 16), 'int32')
    """
    attrs = {
        "ksize": [1, 1] if global_pooling else sizes(pool_size, "pool_size"),
        "strides": sizes(pool_stride, "pool_stride"),
        "paddings": sizes(pool_padding, "pool_padding", low=0),
        "global_pooling": global_pooling,
        "adaptive": adaptive,
    }
    outputs = emit_all("max_pool2d_with_index", {"X": input}, attrs, name=name)
    outputs["Mask"].stop_gradient = True  # type: ignore[union-attr]
    return outputs["Out"], outputs["Mask"]  # type: ignore[return-value]


def adaptive_pool2d(input: Variable, pool_size: Size, pool_type: str = "max", name: str | None = None) -> Variable:
    """Adaptive pooling: the maximum ("max") or the mean ("avg") of each of pool_size nearly equal parts of an image.

    input: [N, C, H, W] float. Returns [N, C, *pool_size].
    pool_type: "max" or "avg".
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 30, 50])
        >>> pm.layers.adaptive_pool2d(image, [7, 7], "avg").shape
        (-1, 3, 7, 7)
    """
    if pool_type not in ("max", "avg"):
        refuse(ProgramError, f"adaptive_pool2d: pool_type is {shown(pool_type)}, it must be 'max' or 'avg'")
    name = name or layer_name("adaptive_pool2d")
    if pool_type == "max":  # PaddlePaddle's pool2d ignores `adaptive` here
        return max_pool2d_with_index(input, pool_size, adaptive=True, name=name)[0]
    attrs = {"ksize": sizes(pool_size, "pool_size"), "pooling_type": pool_type, "adaptive": True}
    return emit("pool2d", {"X": input}, attrs, name=name)


def _channel_axis(data_format: str) -> int:
    if data_format not in ("NCHW", "NHWC"):
        refuse(ProgramError, f"data_format is {shown(data_format)}, it must be 'NCHW' or 'NHWC'")
    return 1 if data_format == "NCHW" else 3


_AXES = ("depth", "height", "width")
_ENDS = {2: "top, bottom, left, right", 3: "front, back, top, bottom, left, right"}


def sizes(size: Size, what: str, axes: int = 2, low: int = 1, ends: str = "") -> list[int]:
    """One number, at least `low`, for each axis of a window: a number stands for all of them. ends: the names of the ends of
    the axes, in their order, which may have one number each instead."""
    each: list[Any] = list(size) if np.ndim(size) else [size] * axes  # type: ignore[arg-type]
    forms = [form for form in (", ".join(_AXES[-axes:]), ends) if form]
    are_whole = all(isinstance(item, numbers.Integral) and not isinstance(item, bool) and int(item) >= low for item in each)
    if not are_whole or len(each) not in [form.count(",") + 1 for form in forms]:
        listed = " or ".join(f"[{form}]" for form in forms)
        refuse(ProgramError, f"{what} is {shown(size)}, it must be an integer, at least {low}, or {listed}")
    return [int(item) for item in each]


def paddings(padding: Size | str, axes: int = 2, dilation: Size = 1, what: str = "padding") -> dict[str, Any]:
    """The padding attributes: numbers for axes, or for their ends. Warns if the operator ignores the dilation."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            refuse(ProgramError, f"{what} is {shown(padding)}, as a string it must be 'SAME' or 'VALID'")
        if padding.upper() == "SAME" and max(sizes(dilation, "dilation", axes)) > 1:
            callsite.warn(
                f"padding='SAME' sets dilation {shown(dilation)} to 1, as in PaddlePaddle; to keep the dilation, give "
                "padding=dilation * (filter_size - 1) // 2"
            )
        return {"padding_algorithm": padding.upper(), "paddings": [0] * axes}
    return {"padding_algorithm": "EXPLICIT", "paddings": sizes(padding, what, axes, 0, _ENDS[axes])}
