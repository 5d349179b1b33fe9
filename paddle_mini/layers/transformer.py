# Blocks of Transformers, and positions. Vaswani et al., "Attention is all you need", 2017.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import ShapeError, printable
from ..initializer import NumpyArrayInitializer
from ..param_attr import ParamAttr
from ..variable import Variable
from . import ops
from .attention import dropped, multi_head_attention, unnamed
from .embedding import embedding
from .emit import known_dim, layer_name, refuse, require_float, whole
from .key_value_cache import KeyValueCache, word_positions
from .linear import fc
from .norm import layer_norm


def feed_forward(
    x: Variable,
    d_inner: int,
    d_model: int | None = None,
    dropout_rate: float = 0.0,
    act: str = "relu",
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Variable:
    """act(x W₁ + b₁) W₂ + b₂ for each position.

    x: [N, length, features] float. d_inner: outputs of the first product; d_model: of the second; None: features.
    dropout_rate: between them, upscale_in_train. Returns [N, length, d_model]. param_attr and bias_attr are for
    both products and have no name.
    Example:
        >>> x = pm.layers.data("x", [-1, 20, 16])
        >>> pm.layers.feed_forward(x, d_inner=64).shape
        (-1, 20, 16)
    """
    _require_sequences("feed_forward", x)
    weight, bias = unnamed("feed_forward", param_attr), unnamed("feed_forward", bias_attr)
    width = known_dim(x, 2, "feed_forward") if d_model is None else d_model
    prefix = layer_name("feed_forward", name)
    hidden = dropped(fc(x, d_inner, 2, weight, bias, act, name=prefix), dropout_rate, prefix)
    return fc(hidden, width, 2, weight, bias, name=prefix)


def transformer_encoder_layer(
    x: Variable,
    num_heads: int,
    d_inner: int,
    dropout_rate: float = 0.1,
    act: str = "relu",
    attn_dropout_rate: float | None = None,
    act_dropout_rate: float | None = None,
    normalize_before: bool = False,
    attn_mask: Variable | None = None,
    causal: bool = False,
    param_attr: Any = None,
    bias_attr: Any = None,
    cache: KeyValueCache | None = None,
    name: str | None = None,
) -> Variable:
    """Attention of x to itself, then feed_forward, each with what it is given added and normalized.

    x: [N, length, features] float; features must be known. dropout_rate: of what is added; attn_dropout_rate: of
    the attention's weights; act_dropout_rate: inside feed_forward; None: dropout_rate. normalize_before: x + f(norm(x))
    instead of norm(x + f(x)), and a layer_norm belongs after the last block (Xiong et al., "On layer
    normalization in the Transformer architecture", ICML 2020). attn_mask, causal: as in dot_product_attention; with
    causal, this is the block of a language model.
    Returns the shape of x. param_attr, bias_attr: as in multi_head_attention, for all products. num_heads, cache: as in
    multi_head_attention. d_inner, act: as in feed_forward.
    Example:
        >>> x = pm.layers.data("x", [-1, 20, 16])
        >>> pm.layers.transformer_encoder_layer(x, num_heads=4, d_inner=64).shape
        (-1, 20, 16)
    """
    _require_sequences("transformer_encoder_layer", x)
    prefix = layer_name("transformer_encoder_layer", name)
    attn_dropout = dropout_rate if attn_dropout_rate is None else attn_dropout_rate
    act_dropout = dropout_rate if act_dropout_rate is None else act_dropout_rate
    x = _added(
        x,
        lambda x: multi_head_attention(
            x,
            num_heads=num_heads,
            attn_mask=attn_mask,
            causal=causal,
            dropout_rate=attn_dropout,
            param_attr=param_attr,
            bias_attr=bias_attr,
            cache=cache,
            name=f"{prefix}.attention",
        ),
        dropout_rate,
        normalize_before,
        f"{prefix}.norm",
    )
    return _added(
        x,
        lambda x: feed_forward(
            x,
            d_inner,
            dropout_rate=act_dropout,
            act=act,
            param_attr=param_attr,
            bias_attr=bias_attr,
            name=f"{prefix}.feed_forward",
        ),
        dropout_rate,
        normalize_before,
        f"{prefix}.norm",
    )


def transformer_decoder_layer(
    x: Variable,
    memory: Variable,
    num_heads: int,
    d_inner: int,
    dropout_rate: float = 0.1,
    act: str = "relu",
    attn_dropout_rate: float | None = None,
    act_dropout_rate: float | None = None,
    normalize_before: bool = False,
    attn_mask: Variable | None = None,
    memory_mask: Variable | None = None,
    causal: bool = True,
    param_attr: Any = None,
    bias_attr: Any = None,
    cache: KeyValueCache | None = None,
    name: str | None = None,
) -> Variable:
    """Attention of x to itself, then to memory, then feed_forward, each with what it is given added and normalized.

    x: [N, length, features] float. memory: [N, k, any features] float, what the encoder made. memory_mask: for
    the attention to memory; attn_mask, causal and cache: for that to x itself. All else is as in
    transformer_encoder_layer. Returns the shape of x.
    num_heads, d_inner, dropout_rate, act, attn_dropout_rate, act_dropout_rate, normalize_before, param_attr, bias_attr: as in
    transformer_encoder_layer.
    Example:
        >>> x, memory = pm.layers.data("x", [-1, 20, 16]), pm.layers.data("memory", [-1, 30, 16])
        >>> pm.layers.transformer_decoder_layer(x, memory, num_heads=4, d_inner=64).shape
        (-1, 20, 16)
    """
    _require_sequences("transformer_decoder_layer", x)
    prefix = layer_name("transformer_decoder_layer", name)
    width = known_dim(x, 2, "transformer_decoder_layer")
    attn_dropout = dropout_rate if attn_dropout_rate is None else attn_dropout_rate
    act_dropout = dropout_rate if act_dropout_rate is None else act_dropout_rate
    x = _added(
        x,
        lambda x: multi_head_attention(
            x,
            num_heads=num_heads,
            attn_mask=attn_mask,
            causal=causal,
            dropout_rate=attn_dropout,
            param_attr=param_attr,
            bias_attr=bias_attr,
            cache=cache,
            name=f"{prefix}.self_attention",
        ),
        dropout_rate,
        normalize_before,
        f"{prefix}.norm",
    )
    x = _added(
        x,
        lambda x: multi_head_attention(
            x,
            memory,
            num_heads=num_heads,
            d_model=width,
            attn_mask=memory_mask,
            dropout_rate=attn_dropout,
            param_attr=param_attr,
            bias_attr=bias_attr,
            name=f"{prefix}.memory_attention",
        ),
        dropout_rate,
        normalize_before,
        f"{prefix}.norm",
    )
    return _added(
        x,
        lambda x: feed_forward(
            x,
            d_inner,
            dropout_rate=act_dropout,
            act=act,
            param_attr=param_attr,
            bias_attr=bias_attr,
            name=f"{prefix}.feed_forward",
        ),
        dropout_rate,
        normalize_before,
        f"{prefix}.norm",
    )


def add_learned_positions(
    x: Variable, max_length: int, param_attr: Any = None, cache: KeyValueCache | None = None, name: str | None = None
) -> Variable:
    """x plus row t of a table at each position t.

    x: [N, length, features] float; features must be known, length need not be. The table [max_length, features]
    begins with Xavier. cache: a KeyValueCache, whose position is that of the first of x. Returns the shape of x. Raises
    ShapeError when a known length is above max_length, and OpError at a run when another one is.
    Example:
        >>> x = pm.layers.embedding(pm.layers.data("ids", [-1, 20], "int64"), [1000, 16])
        >>> pm.layers.add_learned_positions(x, max_length=512).shape
        (-1, 20, 16)
    """
    return _with_positions("add_learned_positions", x, max_length, param_attr, cache, name)


def add_sinusoid_positions(x: Variable, max_length: int, cache: KeyValueCache | None = None, name: str | None = None) -> Variable:
    """x plus sin(t / 10000^(2i / features)) at feature 2i and the cosine at 2i + 1, for each position t.

    Arguments and errors are as in add_learned_positions; the table is a parameter that is not trained.
    max_length: the positions of the table. cache: as in add_learned_positions. Returns the shape of x.
    Example:
        >>> x = pm.layers.embedding(pm.layers.data("ids", [-1, 20], "int64"), [1000, 16])
        >>> pm.layers.add_sinusoid_positions(x, max_length=512).shape
        (-1, 20, 16)
    """
    _require_sequences("add_sinusoid_positions", x)
    width = known_dim(x, 2, "add_sinusoid_positions")
    places = np.arange(whole("add_sinusoid_positions", "max_length", max_length))[:, None]
    angles = places / 10000.0 ** (np.arange(width) // 2 * 2 / max(width, 1))
    table = np.where(np.arange(width) % 2 == 0, np.sin(angles), np.cos(angles))
    fixed = ParamAttr(initializer=NumpyArrayInitializer(table), trainable=False, do_model_average=False)
    return _with_positions("add_sinusoid_positions", x, max_length, fixed, cache, name)


def _with_positions(
    layer: str, x: Variable, max_length: int, attr: Any, cache: KeyValueCache | None, name: str | None
) -> Variable:
    _require_sequences(layer, x)
    if x.shape[1] > whole(layer, "max_length", max_length):
        refuse(ShapeError, f"{layer}: '{printable(x.name)}' {list(x.shape)} is longer than max_length {max_length}")
    prefix, width = layer_name(layer, name), known_dim(x, 2, layer)
    positions = word_positions(x, prefix) if cache is None else cache.positions(x, prefix)
    rows = embedding(positions, [max_length, width], param_attr=attr, dtype=x.dtype, name=prefix)
    return ops.elementwise_add(x, rows, name=prefix)


def _added(
    x: Variable, sublayer: Callable[[Variable], Variable], dropout_rate: float, normalize_before: bool, name: str
) -> Variable:
    """x + sublayer(norm(x)), or norm(x + sublayer(x)), with dropout of what is added."""
    given = layer_norm(x, begin_norm_axis=2, name=name) if normalize_before else x
    total = ops.elementwise_add(x, dropped(sublayer(given), dropout_rate, name), name=name)
    return total if normalize_before else layer_norm(total, begin_norm_axis=2, name=name)


def _require_sequences(layer: str, x: Variable) -> None:
    require_float(layer, x)
    if len(x.shape) != 3:
        refuse(ShapeError, f"{layer}: '{printable(x.name)}' has shape {list(x.shape)}, it must be [batch, length, features]")
