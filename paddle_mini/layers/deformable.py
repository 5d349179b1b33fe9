# Deformable convolution.
from __future__ import annotations

import math
from typing import Any

from .._core import ProgramError
from ..initializer import Normal
from ..variable import Variable
from .conv import Size, sizes
from .emit import add_bias, create_parameter, emit, known_dim, layer_name, refuse, require_float, whole


def deformable_conv(
    input: Variable,
    offset: Variable,
    mask: Variable | None,
    num_filters: int,
    filter_size: Size,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    groups: int = 1,
    deformable_groups: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    modulated: bool = True,
    name: str | None = None,
) -> Variable:
    """A convolution of images whose taps are moved by offsets and, if modulated, multiplied by a mask.

    input: [N, C, H, W] float; C must be known. offset: [N, 2 · deformable_groups · height · width, H', W'], for each tap
    how far it is moved down and right. mask: [N, deformable_groups · height · width, H', W'], None unless modulated.
    deformable_groups: of input channels with offsets of their own. All else is as in conv2d: W
    [num_filters, C / groups, height, width] begins normal with standard deviation √(2 / (height·width·C)), b
    [num_filters] with zeros; bias_attr=False: no bias. padding: one number, or [height, width].
    Dai et al., "Deformable Convolutional Networks", ICCV 2017; with a mask: Zhu et al., CVPR 2019.
    filter_size, stride, dilation: one number, or [height, width]. Returns [N, num_filters, H', W'].
    Example:
        >>> image, offset = pm.layers.data("image", [-1, 3, 8, 8]), pm.layers.data("offset", [-1, 18, 6, 6])
        >>> mask = pm.layers.data("mask", [-1, 9, 6, 6])
        >>> pm.layers.deformable_conv(image, offset, mask, num_filters=4, filter_size=3).shape
        (-1, 4, 6, 6)
    """
    require_float("deformable_conv", input)
    channels = known_dim(input, 1, "deformable_conv")
    num_filters, groups = whole("deformable_conv", "num_filters", num_filters), whole("deformable_conv", "groups", groups)
    if channels % groups or num_filters % groups:
        refuse(ProgramError, f"deformable_conv: groups {groups} must divide {channels} channels and {num_filters} filters")
    if modulated != (mask is not None):
        refuse(ProgramError, f"deformable_conv: mask must {'be given' if modulated else 'be None'} with modulated={modulated}")
    prefix = layer_name("deformable_conv", name)
    window = sizes(filter_size, "filter_size")
    spread = math.sqrt(2.0 / max(math.prod(window) * channels, 1))
    weight = create_parameter([num_filters, channels // groups, *window], input.dtype, param_attr, prefix, Normal(0.0, spread))
    attrs = {
        "strides": sizes(stride, "stride"),
        "paddings": sizes(padding, "padding", low=0),
        "dilations": sizes(dilation, "dilation"),
        "groups": groups,
        "deformable_groups": whole("deformable_conv", "deformable_groups", deformable_groups),
    }
    inputs = {"Input": input, "Offset": offset, "Filter": weight, **({"Mask": mask} if modulated else {})}
    out = emit("deformable_conv" if modulated else "deformable_conv_v1", inputs, attrs, name=prefix)
    return add_bias(out, bias_attr, num_filters, 1, prefix)
