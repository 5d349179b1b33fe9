# Tensors filled with a constant or a range.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..initializer import constant_attrs
from ..variable import Variable
from .emit import at_users_line, emit, layer_name


def fill_constant(shape: Sequence[int], dtype: Any, value: float, name: str | None = None) -> Variable:
    """A tensor of this shape whose elements are all `value`.

    Args:
        shape: the dimensions
        dtype: the element type
        value: of every element
    Returns:
        a tensor of this shape
    Example:
        >>> pm.layers.fill_constant([2, 3], "float32", 1.5).shape
        (2, 3)
    """
    with at_users_line():
        attrs = constant_attrs(dtypes.shape_list(shape), dtypes.dtype_name(dtype), value)
    out = emit("fill_constant", {}, attrs, name=name)
    out.stop_gradient = True
    return out


def zeros(shape: Sequence[int], dtype: Any = "float32", name: str | None = None) -> Variable:
    """A tensor of zeros.

    Args:
        shape: the dimensions
        dtype: the element type
    Returns:
        a tensor of this shape
    Example:
        >>> pm.layers.zeros([2, 3]).shape
        (2, 3)
    """
    return fill_constant(shape, dtype, 0.0, name=name)


def ones(shape: Sequence[int], dtype: Any = "float32", name: str | None = None) -> Variable:
    """A tensor of ones.

    Args:
        shape: the dimensions
        dtype: the element type
    Returns:
        a tensor of this shape
    Example:
        >>> pm.layers.ones([2, 3]).shape
        (2, 3)
    """
    return fill_constant(shape, dtype, 1.0, name=name)


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = "float32", name: str | None = None) -> Variable:
    """A matrix with 1 on the diagonal and 0 elsewhere. num_columns: None: as many as rows.

    Args:
        num_rows: rows
        num_columns: None: as many as rows
        dtype: the element type
    Returns:
        [num_rows, num_columns]
    Example:
        >>> pm.layers.eye(3).shape
        (3, 3)
    """
    attrs = {"num_rows": num_rows, "num_columns": -1 if num_columns is None else num_columns, "dtype": dtypes.dtype_name(dtype)}
    out = emit("eye", {}, attrs, name=name)
    out.stop_gradient = True
    return out


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = "int64", name: str | None = None) -> Variable:
    """start, start + step, start + 2 step, ... up to but without end; arange(n) begins at 0.

    start, end, step: numbers, or variables of this dtype with one element. Returns [n], whose length is known
    at a run. Raises OpError at a run when step is 0.
    Example:
        >>> pm.Executor().run(fetch_list=[pm.layers.arange(0, 10, 3)])[0]
        array([0, 3, 6, 9])
    """
    prefix = layer_name("arange", name)
    start, end = (0, start) if end is None else (start, end)
    ports = {
        port: value if isinstance(value, Variable) else fill_constant([1], dtype, value, name=prefix)
        for port, value in (("Start", start), ("End", end), ("Step", step))
    }
    out = emit("range", ports, name=prefix)
    out.stop_gradient = True
    return out


def full_like(x: Variable, value: float, dtype: Any = None, name: str | None = None) -> Variable:
    """A tensor of x's shape whose elements are all `value`. dtype: None: x's.

    Args:
        x: any shape
        value: of every element
        dtype: None: that of x
    Returns:
        the shape of x
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.full_like(x, 2.0).shape
        (-1, 8)
    """
    attrs = {"value": value, "dtype": -1 if dtype is None else dtypes.dtype_name(dtype)}
    out = emit("fill_any_like", {"X": x}, attrs, name=name)
    out.stop_gradient = True
    return out


def zeros_like(x: Variable, name: str | None = None) -> Variable:
    """A tensor of zeros of x's shape and element type.

    Args:
        x: any shape
    Returns:
        the shape and element type of x
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.zeros_like(x).shape
        (-1, 8)
    """
    return full_like(x, 0.0, name=name)


def ones_like(x: Variable, name: str | None = None) -> Variable:
    """A tensor of ones of x's shape and element type.

    Args:
        x: any shape
    Returns:
        the shape and element type of x
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.ones_like(x).shape
        (-1, 8)
    """
    return full_like(x, 1.0, name=name)


def fill_constant_batch_size_like(
    input: Variable,
    shape: Sequence[int],
    dtype: Any,
    value: float,
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    name: str | None = None,
) -> Variable:
    """A tensor of this shape whose elements are all `value`; its dimension output_dim_idx is input's
    dimension input_dim_idx.

    dtype: the element type. input: any shape; shape: the dimensions, with any number at output_dim_idx.
    Returns that tensor.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.fill_constant_batch_size_like(x, [1, 16], "float32", 0.0).shape
        (-1, 16)
    """
    with at_users_line():
        attrs = constant_attrs(list(shape), dtypes.dtype_name(dtype), value)
    attrs.update(input_dim_idx=input_dim_idx, output_dim_idx=output_dim_idx)
    out = emit("fill_constant_batch_size_like", {"Input": input}, attrs, name=name)
    out.stop_gradient = True
    return out
