# Parts of networks that are made of several layers.
"""Each function calls several layer functions; parameters and errors are theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import layers
from ._core import ProgramError, ShapeError, printable
from .errors import shown
from .layers.attention import join_heads, split_heads
from .layers.conv import Size
from .layers.emit import known_dim, layer_name, refuse, require_float, whole
from .layers.shared_arguments import ARGUMENTS, ERRORS
from .renamed import show_public
from .shared_docs import describe_shared
from .transaction import make_atomic
from .variable import Variable

__all__ = ["glu", "img_conv_group", "scaled_dot_product_attention", "sequence_conv_pool", "simple_img_conv_pool"]


def simple_img_conv_pool(
    input: Variable,
    num_filters: int,
    filter_size: Size,
    pool_size: Size,
    pool_stride: Size,
    pool_padding: Size | str = 0,
    pool_type: str = "max",
    global_pooling: bool = False,
    conv_stride: Size = 1,
    conv_padding: Size | str = 0,
    conv_dilation: Size = 1,
    conv_groups: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
) -> Variable:
    """layers.conv2d, then layers.pool2d, with their arguments.

    input: [N, C, H, W] float. Returns [N, num_filters, H', W'].
    LeCun et al., "Gradient-based learning applied to document recognition", 1998.
    filter_size, conv_stride, conv_padding, conv_dilation, conv_groups, param_attr, bias_attr, act: of layers.conv2d.
    pool_size, pool_type, pool_stride, pool_padding, global_pooling: of layers.pool2d.
    Example:
        >>> image = pm.layers.data("image", [-1, 1, 28, 28])
        >>> pm.nets.simple_img_conv_pool(image, 20, filter_size=5, pool_size=2, pool_stride=2, act="relu").shape
        (-1, 20, 12, 12)
    """
    hidden = layers.conv2d(
        input, num_filters, filter_size, conv_stride, conv_padding, conv_dilation, conv_groups, param_attr, bias_attr, act
    )
    return layers.pool2d(hidden, pool_size, pool_type, pool_stride, pool_padding, global_pooling)


def img_conv_group(
    input: Variable,
    conv_num_filter: Sequence[int],
    pool_size: Size,
    conv_padding: int | Sequence[Any] = 1,
    conv_filter_size: int | Sequence[Any] = 3,
    conv_act: str | None = None,
    param_attr: Any = None,
    conv_with_batchnorm: bool | Sequence[bool] = False,
    conv_batchnorm_drop_rate: float | Sequence[float] = 0.0,
    pool_stride: Size = 1,
    pool_type: str = "max",
) -> Variable:
    """Convolutions one after the other, with batch normalization and dropout where asked for, then a pool.

    input: [N, C, H, W] float. conv_num_filter: one number a convolution. conv_padding, conv_filter_size,
    param_attr, conv_with_batchnorm and conv_batchnorm_drop_rate: one value for all, or a list of one each.
    conv_act: after the batch normalization if there is one, else after the convolution. The dropout comes
    after a batch normalization only. Returns [N, conv_num_filter[-1], H', W'].
    Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition", ICLR 2015.
    pool_size, pool_stride, pool_type: as in layers.pool2d.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 32, 32])
        >>> pm.nets.img_conv_group(image, [16, 16], pool_size=2, conv_act="relu", conv_with_batchnorm=True, pool_stride=2).shape
        (-1, 16, 16, 16)
    """
    if not isinstance(conv_num_filter, (list, tuple, np.ndarray)) or len(conv_num_filter) == 0:
        refuse(ProgramError, f"img_conv_group: conv_num_filter is {shown(conv_num_filter)}, it must be a list of numbers")
    count, x = len(conv_num_filter), input
    each = zip(
        conv_num_filter,
        *(
            _for_each(what, value, count)
            for what, value in [
                ("conv_padding", conv_padding),
                ("conv_filter_size", conv_filter_size),
                ("param_attr", param_attr),
                ("conv_with_batchnorm", conv_with_batchnorm),
                ("conv_batchnorm_drop_rate", conv_batchnorm_drop_rate),
            ]
        ),
    )
    for filters, padding, size, attr, normalized, drop_rate in each:
        x = layers.conv2d(x, filters, size, padding=padding, param_attr=attr, act=None if normalized else conv_act)
        if normalized:
            x = layers.batch_norm(x, act=conv_act)
            if drop_rate:
                x = layers.dropout(x, drop_rate)
    return layers.pool2d(x, pool_size, pool_type, pool_stride)


def sequence_conv_pool(
    input: Variable,
    num_filters: int,
    filter_size: int,
    param_attr: Any = None,
    act: str = "sigmoid",
    pool_type: str = "max",
    bias_attr: Any = None,
) -> Variable:
    """layers.sequence_conv over windows of filter_size steps, then layers.sequence_pool.

    input: sequences of [features] float. Returns [sequences, num_filters].
    Collobert et al., "Natural language processing (almost) from scratch", JMLR 2011.
    param_attr, bias_attr, act: as in layers.sequence_conv. pool_type: as in layers.sequence_pool.
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.nets.sequence_conv_pool(words, num_filters=16, filter_size=3).shape
        (-1, 16)
    """
    hidden = layers.sequence_conv(
        input, num_filters=num_filters, filter_size=filter_size, param_attr=param_attr, bias_attr=bias_attr, act=act
    )
    return layers.sequence_pool(hidden, pool_type)


def glu(input: Variable, dim: int = -1) -> Variable:
    """a · sigmoid(b), the halves of input along an axis.

    Returns the shape of input with half the elements along dim. Raises ShapeError when they are odd in number.
    Dauphin et al., "Language modeling with gated convolutional networks", ICML 2017.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.nets.glu(x).shape
        (-1, 4)
    """
    first, second = layers.split(input, 2, dim=dim, name=layer_name("glu"))
    return layers.elementwise_mul(first, layers.sigmoid(second))


def scaled_dot_product_attention(
    queries: Variable, keys: Variable, values: Variable, num_heads: int = 1, dropout_rate: float = 0.0
) -> Variable:
    """Attention of queries to keys. With several heads, each has its own projections, and their results lie side
    by side; layers.multi_head_attention mixes them by one more product.

    queries [N, q, features], keys [N, k, features], values [N, k, anything], float; features and anything must be
    known. num_heads must divide both. dropout_rate: of the weights, upscale_in_train. Returns [N, q, anything].
    Vaswani et al., "Attention is all you need", 2017.
    Example:
        >>> x = pm.layers.data("x", [-1, 5, 16])
        >>> pm.nets.scaled_dot_product_attention(x, x, x, num_heads=4).shape
        (-1, 5, 16)
    """
    heads = whole("scaled_dot_product_attention", "num_heads", num_heads)
    for x in (queries, keys, values):
        require_float("scaled_dot_product_attention", x)
        if len(x.shape) != 3:
            refuse(
                ShapeError,
                f"scaled_dot_product_attention: '{printable(x.name)}' has shape {list(x.shape)}, it must be "
                "[batch, length, features]",
            )
    if heads == 1:
        return layers.dot_product_attention(queries, keys, values, dropout_rate=dropout_rate)
    widths = [known_dim(x, 2, "scaled_dot_product_attention") for x in (queries, keys, values)]
    if widths[0] != widths[1] or any(width % heads for width in widths):
        refuse(
            ShapeError,
            f"scaled_dot_product_attention: {heads} heads of queries, keys and values with {widths} "
            "features; those of queries and keys must be alike, and a multiple of num_heads",
        )
    prefix = layer_name("scaled_dot_product_attention")
    q, k, v = (
        split_heads(layers.fc(x, width, 2, name=prefix), heads, width, prefix)[0]
        for x, width in zip((queries, keys, values), widths)
    )
    return join_heads(layers.dot_product_attention(q, k, v, dropout_rate=dropout_rate), widths[2], prefix)


def _for_each(what: str, value: Any, count: int) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        refuse(ProgramError, f"img_conv_group: {what} has {len(value)} values for {count} convolutions")
    return list(value)


describe_shared([globals()[name] for name in __all__], ARGUMENTS, ERRORS)
make_atomic(globals(), __all__)

show_public(globals())
