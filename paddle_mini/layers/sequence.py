# Layers over sequences: rows that a lod groups. Functions of one line have the docs of their operators.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from .._core import ProgramError
from ..errors import shown
from ..variable import Variable
from .emit import (
    activation,
    add_bias,
    create_parameter,
    emit,
    emit_all,
    known_dim,
    layer_name,
    refuse,
    require_float,
    require_number,
    require_variable,
    whole,
)
from .fill import fill_constant


def sequence_pool(
    input: Variable, pool_type: str, is_test: bool = False, pad_value: float = 0.0, name: str | None = None
) -> Variable:
    """A row for each sequence.

    input: sequences of rows [T, ...]. pool_type: "sum", "average", "sqrt" (the sum by the root of the length),
    "max", "last" or "first". pad_value: what a sequence without rows gives. Returns [sequences, ...]; of
    sequences of sequences, the inner ones are pooled, and the rows are grouped as they were.
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.sequence_pool(words, "average").shape
        (-1, 8)
    """
    if not isinstance(pool_type, str):
        refuse(ProgramError, f"sequence_pool: pool_type is {shown(pool_type)}, it must be a string such as 'sum'")
    kind = pool_type.upper()
    attrs = {"pooltype": kind, "is_test": is_test, "pad_value": pad_value}
    outputs = {"Out": 1, "MaxIndex": 1} if kind == "MAX" else None
    return emit("sequence_pool", {"X": input}, attrs, name=name, outputs=outputs)


def sequence_first_step(input: Variable, name: str | None = None) -> Variable:
    """The first row of each sequence: sequence_pool of type "first".

    Args:
        input: sequences of rows
    Returns:
        a row for each sequence
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.sequence_first_step(words).shape
        (-1, 8)
    """
    return sequence_pool(input, "first", name=name)


def sequence_last_step(input: Variable, name: str | None = None) -> Variable:
    """The last row of each sequence: sequence_pool of type "last".

    Args:
        input: sequences of rows
    Returns:
        a row for each sequence
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.sequence_last_step(words).shape
        (-1, 8)
    """
    return sequence_pool(input, "last", name=name)


def sequence_conv(
    input: Variable,
    num_filters: int,
    filter_size: int = 3,
    filter_stride: int = 1,
    padding: bool = True,
    padding_start: int | None = None,
    bias_attr: Any = None,
    param_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """Out[t] = act(W · (rows t + padding_start ... filter_size rows, concatenated) + b), in each sequence.

    input: sequences of rows [T, D], float; D must be known. Zeros stand before and after a sequence.
    filter_stride: 1. padding: True. padding_start: None: −(filter_size // 2), so that a row is in the middle.
    Returns [T, num_filters]. W [filter_size · D, num_filters] begins with Xavier, b [num_filters] with zeros;
    bias_attr=False: no bias. Raises ProgramError for another stride or no padding.
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.sequence_conv(words, num_filters=16, filter_size=3, act="relu").shape
        (-1, 16)
    """
    require_float("sequence_conv", input)
    filters, size = (
        whole("sequence_conv", argument, value)
        for argument, value in (("num_filters", num_filters), ("filter_size", filter_size))
    )
    if padding is not True:
        refuse(ProgramError, "sequence_conv: padding must be True: every row of input has one in the output")
    prefix = layer_name("sequence_conv", name)
    weight = create_parameter([size * known_dim(input, 1, "sequence_conv"), filters], input.dtype, param_attr, prefix)
    out = emit(
        "sequence_conv",
        {"X": input, "Filter": weight},
        {
            "contextStride": filter_stride,
            "contextLength": size,
            "contextStart": -(size // 2) if padding_start is None else padding_start,
        },
        name=prefix,
    )
    return activation(act, add_bias(out, bias_attr, filters, 1, prefix), prefix)


def row_conv(
    input: Variable, future_context_size: int, param_attr: Any = None, act: str | None = None, name: str | None = None
) -> Variable:
    """Out[t] = act(Σᵢ input[t + i] · W[i]), element by element, for i from 0 to future_context_size.

    input: sequences of rows [T, D], or [batch, T, D], float; D must be known. Returns the shape of input.
    W [future_context_size + 1, D] begins with Xavier. Amodei et al., "Deep Speech 2", 2015.
    Example:
        >>> x = pm.layers.data("x", [-1, 8], lod_level=1)
        >>> pm.layers.row_conv(x, future_context_size=2).shape
        (-1, 8)
    """
    require_float("row_conv", input)
    taps = whole("row_conv", "future_context_size", future_context_size, low=0) + 1
    prefix = layer_name("row_conv", name)
    weight = create_parameter([taps, known_dim(input, -1, "row_conv")], input.dtype, param_attr, prefix)
    return activation(act, emit("row_conv", {"X": input, "Filter": weight}, name=prefix), prefix)


def sequence_pad(
    x: Variable, pad_value: float | Variable, maxlen: int | None = None, name: str | None = None
) -> tuple[Variable, Variable]:
    """Sequences as rows of one tensor, padded at their ends: (padded [sequences, length, ...], the length of
    each sequence, int64 [sequences]).

    x: sequences of rows [T, ...]. pad_value: a number, or a Variable of x's dtype: one element, or a row.
    maxlen: None: the length of the longest. Raises OpError at a run when a sequence is longer than maxlen.
    Returns these two variables.
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> padded, lengths = pm.layers.sequence_pad(words, pad_value=0.0, maxlen=20)
        >>> padded.shape, lengths.shape
        ((-1, 20, 8), (-1,))
    """
    require_variable("sequence_pad", x)
    prefix = layer_name("sequence_pad", name)
    if not isinstance(pad_value, Variable):
        require_number("sequence_pad", "pad_value", pad_value, x.dtype)
        pad_value = fill_constant([1], x.dtype, pad_value, name=prefix)
    length = -1 if maxlen is None else whole("sequence_pad", "maxlen", maxlen)
    made = emit_all("sequence_pad", {"X": x, "PadValue": pad_value}, {"padded_length": length}, name=prefix)
    made["Length"].stop_gradient = True  # type: ignore[union-attr]
    return made["Out"], made["Length"]  # type: ignore[return-value]


def sequence_mask(x: Variable, maxlen: int | Variable | None = None, dtype: Any = "int64", name: str | None = None) -> Variable:
    """1 where a position is before the end of its sequence, else 0: Out[..., j] = j < x[...].

    x: lengths of any shape, int32 or int64. maxlen: how many positions; None: the largest of x; or a Variable with
    one integer. Returns [..., maxlen].
    dtype: the element type of the result.
    Example:
        >>> mask = pm.layers.sequence_mask(pm.layers.assign(np.array([1, 3])), maxlen=4)
        >>> pm.Executor().run(fetch_list=[mask])[0]
        array([[1, 0, 0, 0],
               [1, 1, 1, 0]])
    """
    given = isinstance(maxlen, Variable)
    max_length = -1 if given or maxlen is None else whole("sequence_mask", "maxlen", maxlen)
    out = emit(
        "sequence_mask",
        {"X": x, "MaxLenTensor": maxlen if given else None},
        {"maxlen": max_length, "out_dtype": dtypes.dtype_name(dtype)},
        name=name,
    )
    out.stop_gradient = True
    return out


def lod_reset(
    x: Variable, y: Variable | None = None, target_lod: Sequence[int] | None = None, name: str | None = None
) -> Variable:
    """x with other sequences: those of y; or, if y has no LoD, the offsets that are its values (int32 or int64);
    or, without y, the offsets target_lod, such as [0, 2, 5].

    Returns the shape of x.
    Example:
        >>> x = pm.layers.lod_reset(pm.layers.ones([5, 8]), target_lod=[0, 2, 5])
        >>> pm.Executor().run(fetch_list=[x], return_numpy=False)[0].lod
        [[0, 2, 5]]
    """
    if (y is None) == (target_lod is None):
        refuse(ProgramError, "lod_reset: give y or target_lod")
    return emit("lod_reset", {"X": x, "Y": y}, {} if target_lod is None else {"target_lod": _offsets(target_lod)}, name=name)


def lod_append(x: Variable, level: Variable | Sequence[int], name: str | None = None) -> Variable:
    """x with one more, innermost, level of sequences, whose y or target_lod in lod_reset is `level`: what was the
    innermost level then groups these sequences instead of rows, so there must be as many as there were rows.

    Returns the shape of x.
    Example:
        >>> x = pm.layers.data("x", [-1, 8], lod_level=1)
        >>> pm.layers.lod_append(x, [0, 1, 3, 5]).lod_level
        2
    """
    given = isinstance(level, Variable)
    attrs = {"append": True, **({} if given else {"target_lod": _offsets(level)})}  # type: ignore[arg-type]
    return emit("lod_reset", {"X": x, "Y": level if given else None}, attrs, name=name or layer_name("lod_append"))


def _offsets(value: Sequence[int]) -> list[int]:
    offsets = np.asarray(value)
    if offsets.ndim != 1 or offsets.size < 1 or offsets.dtype.kind not in "iu":
        refuse(ProgramError, f"target_lod is {shown(value)}, it must be offsets such as [0, 2, 5]")
    return [int(offset) for offset in offsets]
