# Layers on volumes: convolution and pooling.
from __future__ import annotations

import math
from typing import Any

from .._core import ProgramError
from ..errors import shown
from ..initializer import Normal
from ..variable import Variable
from .conv import Size, paddings, sizes, window_for
from .emit import activation, add_bias, create_parameter, emit, known_dim, layer_name, refuse, require_float, whole


def conv3d(
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
    data_format: str = "NCDHW",
) -> Variable:
    """Out = act(X ⋆ W + b), the cross-correlation of volumes with filters.

    input: [N, C, D, H, W] float, or [N, D, H, W, C] with data_format="NDHWC"; C must be known. Sizes: one
    number, or [depth, height, width]; padding may be "SAME" or "VALID" as well. All else is as in conv2d: W
    [num_filters, C / groups, depth, height, width] begins normal with standard deviation
    √(2 / (depth·height·width·C)), b [num_filters] with zeros; bias_attr=False: no bias.
    Raises ShapeError when a dimension does not fit.
    filter_size, stride, dilation: such sizes. Returns [N, num_filters, D', H', W'].
    Example:
        >>> x = pm.layers.data("x", [-1, 3, 8, 16, 16])
        >>> pm.layers.conv3d(x, num_filters=4, filter_size=3, padding=1).shape
        (-1, 4, 8, 16, 16)
    """
    require_float("conv3d", input)
    axis = _channel_axis("conv3d", data_format)
    channels = known_dim(input, axis, "conv3d")
    num_filters, groups = whole("conv3d", "num_filters", num_filters), whole("conv3d", "groups", groups)
    if channels % groups or num_filters % groups:
        refuse(ProgramError, f"conv3d: groups {groups} must divide {channels} channels and {num_filters} filters")
    prefix = layer_name("conv3d", name)
    window = sizes(filter_size, "filter_size", 3)
    spread = math.sqrt(2.0 / max(math.prod(window) * channels, 1))
    weight = create_parameter([num_filters, channels // groups, *window], input.dtype, param_attr, prefix, Normal(0.0, spread))
    attrs = {
        "strides": sizes(stride, "stride", 3),
        "dilations": sizes(dilation, "dilation", 3),
        "groups": groups,
        "data_format": data_format,
        **paddings(padding, 3, dilation),
    }
    out = emit("conv3d", {"Input": input, "Filter": weight}, attrs, name=prefix)
    return activation(act, add_bias(out, bias_attr, num_filters, axis, prefix), prefix)


def conv3d_transpose(
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
    data_format: str = "NCDHW",
) -> Variable:
    """Out = act(Wᵀ X + b), the transpose of conv3d: each voxel adds a filter's multiple to the result.

    input: [N, C, D, H, W] float, or [N, D, H, W, C] with data_format="NDHWC"; C must be known. Sizes: one number, or
    [depth, height, width]. filter_size: None: from output_size, for which D, H and W must be known. stride: D' is about
    stride · D. dilation: the distance between a filter's taps. padding: as in conv3d, and subtracted from the result. All
    else is as in conv2d_transpose: W [C, num_filters / groups, depth, height, width] begins with Xavier, b [num_filters]
    with zeros; bias_attr=False: no bias.
    Returns [N, num_filters, D', H', W'], or with the channels last.
    Example:
        >>> x = pm.layers.data("x", [-1, 8, 4, 16, 16])
        >>> pm.layers.conv3d_transpose(x, num_filters=3, filter_size=4, stride=2, padding=1).shape
        (-1, 3, 8, 32, 32)
    """
    require_float("conv3d_transpose", input)
    axis = _channel_axis("conv3d_transpose", data_format)
    channels = known_dim(input, axis, "conv3d_transpose")
    num_filters, groups = whole("conv3d_transpose", "num_filters", num_filters), whole("conv3d_transpose", "groups", groups)
    if channels % groups or num_filters % groups:
        refuse(ProgramError, f"conv3d_transpose: groups {groups} must divide {channels} channels and {num_filters} filters")
    attrs = {
        "strides": sizes(stride, "stride", 3),
        "dilations": sizes(dilation, "dilation", 3),
        "groups": groups,
        "data_format": data_format,
        **paddings(padding, 3, dilation),
    }
    if output_size is not None:
        attrs["output_size"] = sizes(output_size, "output_size", 3)
    if filter_size is None:
        window = window_for("conv3d_transpose", input, attrs, 1 if axis == 4 else 2)
    else:
        window = sizes(filter_size, "filter_size", 3)
    prefix = layer_name("conv3d_transpose", name)
    weight = create_parameter([channels, num_filters // groups, *window], input.dtype, param_attr, prefix)
    out = emit("conv3d_transpose", {"Input": input, "Filter": weight}, attrs, name=prefix)
    return activation(act, add_bias(out, bias_attr, num_filters, axis, prefix), prefix)


def pool3d(
    input: Variable,
    pool_size: Size = -1,
    pool_type: str = "max",
    pool_stride: Size = 1,
    pool_padding: Size | str = 0,
    global_pooling: bool = False,
    ceil_mode: bool = False,
    exclusive: bool = True,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Variable:
    """The greatest ("max") or the mean ("avg") of each window of a volume.

    input: [N, C, D, H, W] float, or [N, D, H, W, C] with data_format="NDHWC". Sizes: one number, or
    [depth, height, width]. All else is as in pool2d. Raises ShapeError when a window does not fit.
    pool_size, pool_type, pool_stride, pool_padding, global_pooling, ceil_mode, exclusive: as in pool2d.
    Returns [N, C, D', H', W'].
    Example:
        >>> x = pm.layers.data("x", [-1, 3, 8, 16, 16])
        >>> pm.layers.pool3d(x, pool_size=2, pool_type="avg", pool_stride=2).shape
        (-1, 3, 4, 8, 8)
    """
    _channel_axis("pool3d", data_format)
    if pool_type not in ("max", "avg"):
        refuse(ProgramError, f"pool3d: pool_type is {shown(pool_type)}, it must be 'max' or 'avg'")
    if not global_pooling and isinstance(pool_size, int) and pool_size == -1:
        refuse(ProgramError, "pool3d: pool_size is missing; give it, or global_pooling=True")
    attrs = {
        "ksize": [1] * 3 if global_pooling else sizes(pool_size, "pool_size", 3),
        "pooling_type": pool_type,
        "strides": sizes(pool_stride, "pool_stride", 3),
        "global_pooling": global_pooling,
        "ceil_mode": ceil_mode,
        "exclusive": exclusive,
        "data_format": data_format,
        **paddings(pool_padding, 3, what="pool_padding"),
    }
    return emit("pool3d", {"X": input}, attrs, name=name)


def _channel_axis(layer: str, data_format: str) -> int:
    if data_format not in ("NCDHW", "NDHWC"):
        refuse(ProgramError, f"{layer}: data_format is {shown(data_format)}, it must be 'NCDHW' or 'NDHWC'")
    return 1 if data_format == "NCDHW" else 4
