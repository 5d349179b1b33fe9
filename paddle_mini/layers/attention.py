# Attention: a mean of values, weighted by how well keys answer queries; in several heads, with masks.
from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from .._core import ProgramError, ShapeError, printable
from ..initializer import Xavier
from ..param_attr import ParamAttr
from ..variable import Variable
from . import ops
from .cut import slice, split
from .emit import at_users_line, known_dim, layer_name, refuse, require_float, require_variable, whole
from .fill import fill_constant, full_like
from .linear import fc, matmul
from .random import dropout
from .rearrange import reshape, transpose, unsqueeze
from .select import triu
from .tensor import cast

if TYPE_CHECKING:
    from .key_value_cache import KeyValueCache

# Added to a score it leaves a weight of 0; −inf would leave NaN where all keys are hidden.
HIDDEN = -1e9


def dot_product_attention(
    queries: Variable,
    keys: Variable,
    values: Variable,
    attn_mask: Variable | None = None,
    causal: bool = False,
    dropout_rate: float = 0.0,
    name: str | None = None,
) -> Variable:
    """softmax(Q Kᵀ / √width + mask) V.

    queries [..., q, width], keys [..., k, width], values [..., k, anything], float; width must be known, and the
    axes before the last two are the same in all. attn_mask: float, added to the scores: [..., q, k], or a shape
    that can be broadcast to it; about −1e9 hides a key. causal: query i sees the keys up to i.
    dropout_rate: of the weights, upscale_in_train. Returns [..., q, anything].
    Vaswani et al., "Attention is all you need", 2017.
    Example:
        >>> q, k = pm.layers.data("q", [-1, 5, 16]), pm.layers.data("k", [-1, 9, 16])
        >>> pm.layers.dot_product_attention(q, k, k).shape
        (-1, 5, 16)
    """
    require_float("dot_product_attention", queries)
    prefix = layer_name("dot_product_attention", name)
    width = known_dim(queries, -1, "dot_product_attention")
    scores = matmul(queries, keys, transpose_y=True, alpha=max(width, 1) ** -0.5, name=prefix)
    if attn_mask is not None:
        scores = ops.elementwise_add(scores, attn_mask, name=prefix)
    if causal:
        scores = ops.elementwise_add(scores, _later_hidden(scores, prefix), name=prefix)
    weights = dropped(ops.softmax(scores, name=prefix), dropout_rate, prefix)
    return matmul(weights, values, name=prefix)


def multi_head_attention(
    queries: Variable,
    keys: Variable | None = None,
    values: Variable | None = None,
    num_heads: int = 1,
    d_model: int | None = None,
    attn_mask: Variable | None = None,
    causal: bool = False,
    dropout_rate: float = 0.0,
    param_attr: Any = None,
    bias_attr: Any = None,
    cache: KeyValueCache | None = None,
    name: str | None = None,
) -> Variable:
    """W_o of num_heads parallel attentions, each with its own projections of queries, keys and values.

    queries [N, q, features], keys and values [N, k, features], float; features must be known. keys=None: the
    queries; values=None: the keys. d_model: width of all heads together, a multiple of num_heads; None: the
    features of queries. attn_mask, causal, dropout_rate: as in dot_product_attention, scores being
    [N, num_heads, q, k]; padding_mask makes a mask. cache: a KeyValueCache, with keys=None: queries are the next words of
    texts, and see the words before them, too; k is then the cache's length.
    Returns [N, q, d_model]. Projections of one input are one weight [features, d_model · inputs], in the order
    queries, keys, values; each part begins with Xavier, biases with zeros; bias_attr=False: none. param_attr and
    bias_attr are for all of them and have no name. Vaswani et al., "Attention is all you need", 2017.
    Example:
        >>> x = pm.layers.data("x", [-1, 5, 16])
        >>> pm.layers.multi_head_attention(x, num_heads=4, causal=True).shape
        (-1, 5, 16)
    """
    inputs = [queries, queries if keys is None else keys]
    inputs.append(inputs[1] if values is None else values)
    for x in inputs:
        require_float("multi_head_attention", x)
        if len(x.shape) != 3:
            refuse(
                ShapeError,
                f"multi_head_attention: '{printable(x.name)}' has shape {list(x.shape)}, it must be [batch, length, features]",
            )
    heads = whole("multi_head_attention", "num_heads", num_heads)
    width = (
        known_dim(queries, 2, "multi_head_attention") if d_model is None else whole("multi_head_attention", "d_model", d_model)
    )
    if width % heads:
        refuse(ProgramError, f"multi_head_attention: num_heads {heads} does not divide d_model {width}")
    weight, bias = unnamed("multi_head_attention", param_attr), unnamed("multi_head_attention", bias_attr)
    if cache is not None and any(x is not queries for x in inputs):
        refuse(ProgramError, "multi_head_attention: with a cache, keys and values are those of the queries")
    prefix = layer_name("multi_head_attention", name)
    q, k, v = _projected(inputs, width, heads, weight, bias, prefix)
    if cache is not None:
        k, v = (cache.extended(f"{prefix}.{kept}", new, queries, prefix) for kept, new in (("keys", k), ("values", v)))
        seen_before = cache.mask(queries, prefix)
        attn_mask = seen_before if attn_mask is None else ops.elementwise_add(seen_before, attn_mask, name=prefix)
        causal = False  # the mask says it
    seen = dot_product_attention(q, k, v, attn_mask, causal, dropout_rate, name=prefix)
    return fc(join_heads(seen, width, prefix), width, 2, weight, bias, name=f"{prefix}.out")


def padding_mask(ids: Variable, padding_idx: int = 0, name: str | None = None) -> Variable:
    """The mask for attention that hides the keys whose id is padding_idx: ids [N, k] int64 or int32 give
    [N, 1, 1, k] float32.

    Returns −1e9 where a key is hidden, and 0 elsewhere.
    Example:
        >>> ids = pm.layers.data("ids", [-1, 5], "int64")
        >>> x = pm.layers.embedding(ids, [1000, 16])
        >>> pm.layers.multi_head_attention(x, num_heads=4, attn_mask=pm.layers.padding_mask(ids)).shape
        (-1, 5, 16)
    """
    require_variable("padding_mask", ids)
    prefix = layer_name("padding_mask", name)
    hidden = cast(ops.equal(ids, fill_constant([1], ids.dtype, padding_idx, name=prefix), name=prefix), "float32", name=prefix)
    mask = unsqueeze(ops.scale(hidden, scale=HIDDEN, name=prefix), [1, 2], name=prefix)
    mask.stop_gradient = True
    return mask


def split_heads(x: Variable, num_heads: int, width: int, name: str, parts: int = 1) -> list[Variable]:
    """[N, length, parts · width] as so many parts of [N, num_heads, length, width / num_heads]."""
    heads = transpose(reshape(x, [0, 0, parts * num_heads, width // num_heads], name=name), [0, 2, 1, 3], name=name)
    return [heads] if parts == 1 else split(heads, parts, dim=1, name=name)


def join_heads(x: Variable, width: int, name: str) -> Variable:
    """[N, num_heads, length, width / num_heads] as [N, length, width]."""
    return reshape(transpose(x, [0, 2, 1, 3], name=name), [0, 0, width], name=name)


def dropped(x: Variable, rate: float, name: str) -> Variable:
    """x with dropout, or x itself when the rate is 0."""
    return dropout(x, rate, dropout_implementation="upscale_in_train", name=name) if rate else x


def unnamed(layer: str, attr: Any) -> Any:
    """The attributes of several parameters, which can't share one name."""
    if attr is False:
        return False
    with at_users_line():
        attr = ParamAttr.of(attr)
    if attr.name is not None:
        refuse(
            ProgramError,
            f"{layer}: the name '{printable(attr.name)}' cannot be for several parameters; name= begins the names of all of them",
        )
    return attr


def _projected(
    inputs: list[Variable], width: int, heads: int, param_attr: ParamAttr, bias_attr: Any, prefix: str
) -> list[Variable]:
    """Heads of queries, keys and values; those of one input by one product."""
    groups: list[list[Variable]] = []
    for x in inputs:
        if groups and groups[-1][0] is x:
            groups[-1].append(x)
        else:
            groups.append([x])
    parts: list[Variable] = []
    for group in groups:
        x, count, name = group[0], len(group), f"{prefix}.{'qkv'[len(parts) : len(parts) + len(group)]}"
        with at_users_line():
            attr = copy.copy(ParamAttr.of(param_attr))
        if attr.initializer is None:  # as if each part had a separate weight
            attr.initializer = Xavier(fan_in=known_dim(x, 2, "multi_head_attention"), fan_out=width)
        parts += split_heads(fc(x, count * width, 2, attr, bias_attr, name=name), heads, width, prefix, count)
    return parts


def _later_hidden(scores: Variable, name: str) -> Variable:
    """The causal mask, which hides from query i the keys after i: [1, ..., q, k]."""
    axes = list(range(len(scores.shape) - 2))
    one = slice(scores, axes, [0] * len(axes), [1] * len(axes), name=name) if axes else scores
    return triu(full_like(one, HIDDEN, name=name), diagonal=1, name=name)
