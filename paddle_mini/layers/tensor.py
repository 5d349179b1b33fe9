# Layers that make, copy and join tensors, and count.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from .._core import ProgramError, printable
from ..errors import shown
from ..guards import default_main_program
from ..initializer import constant_attrs, value_attrs
from ..variable import Parameter, Variable
from . import emit as door
from .emit import at_users_line, emit, layer_name, refuse, require_variable


def data(name: str, shape: Sequence[int], dtype: Any = "float32", lod_level: int = 0) -> Variable:
    """A variable that exe.run(feed={name: ...}) gives a value.

    shape: with -1, or None, for dimensions that differ from run to run. append_backward stops here;
    set .stop_gradient = False to have a gradient.
    """
    if not isinstance(name, str) or not name:
        refuse(ProgramError, f"data: name is {shown(name)}, it must be a string that is not empty")
    if not isinstance(shape, (list, tuple, np.ndarray)):
        refuse(ProgramError, f"data: shape of '{printable(name)}' is {shown(shape)}, it must be a list such as [-1, 4]")
    with at_users_line():
        dims, dtype = dtypes.shape_list([-1 if dim is None else dim for dim in shape]), dtypes.dtype_name(dtype)
    block = default_main_program().global_block()
    if name in block.vars:
        there = block.vars[name]
        if list(there.shape) != dims or there.dtype != dtype:
            refuse(ProgramError, f"data '{printable(name)}' is there already as {list(there.shape)} {there.dtype}")
        return there
    return block.create_var(name, shape=dims, dtype=dtype, lod_level=lod_level, need_check_feed=True, stop_gradient=True)


def create_parameter(
    shape: Sequence[int],
    dtype: Any = "float32",
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Parameter:
    """A new parameter; initialised with Xavier, or zeros with is_bias, unless attr or default_initializer is set."""
    if name is not None and attr is None:
        attr = name
    return door.create_parameter(
        shape, dtypes.dtype_name(dtype), attr, layer_name("create_parameter"), default_initializer, bias=is_bias
    )


def create_global_var(
    shape: Sequence[int], value: float, dtype: Any = "float32", persistable: bool = True, name: str | None = None
) -> Variable:
    """A variable that outlives runs and that no optimizer changes; the startup program sets every
    element to `value`."""
    if not persistable:
        refuse(ProgramError, "create_global_var: the startup program can only set what is persistable")
    return door.create_state(name or layer_name("global_var"), shape, dtypes.dtype_name(dtype), value)


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
    attrs = {"value": float(value), "dtype": -1 if dtype is None else dtypes.dtype_name(dtype)}
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
    dimension input_dim_idx."""
    with at_users_line():
        attrs = constant_attrs(list(shape), dtypes.dtype_name(dtype), value)
    attrs.update(input_dim_idx=input_dim_idx, output_dim_idx=output_dim_idx)
    out = emit("fill_constant_batch_size_like", {"Input": input}, attrs, name=name)
    out.stop_gradient = True
    return out


def assign(input: Any, output: Variable | None = None, name: str | None = None) -> Variable:
    """A copy of a variable, or of a NumPy array, number or list, which becomes part of the program.
    output: the variable to write; None: a new one."""
    written = {"Out": output if output is not None else 1}
    if isinstance(input, Variable):
        return emit("assign", {"X": input}, name=name, outputs=written)
    value = np.asarray(input)
    if value.dtype == np.float64 and not isinstance(input, (np.ndarray, np.generic)):
        value = value.astype(np.float32)  # Python's numbers have no element type
    return emit(
        "assign_value", {}, value_attrs(value, dtypes.dtype_name(value.dtype)), name=name or layer_name("assign"), outputs=written
    )


def cast(x: Variable, dtype: Any, name: str | None = None) -> Variable:
    """x with another element type; floats lose their fraction when they become integers.

    Args:
        x: any shape and element type
        dtype: such as "int64"
    Returns:
        the shape of x
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.cast(x, "int64").dtype
        'int64'
    """
    require_variable("cast", x)
    return emit("cast", {"X": x}, {"in_dtype": x.dtype, "out_dtype": dtypes.dtype_name(dtype)}, name=name)


def concat(input: Sequence[Variable], axis: int = 0, name: str | None = None) -> Variable:
    """Tensors put one after the other along an axis; their other dimensions must agree.

    Args:
        input: tensors whose other dimensions agree
        axis: the axis that becomes longer
    Returns:
        a tensor of their element type
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.concat([x, x], axis=1).shape
        (-1, 16)
    """
    return emit("concat", {"X": input}, {"axis": axis}, name=name)


def increment(x: Variable, value: float = 1.0, in_place: bool = True, name: str | None = None) -> Variable:
    """x + value, for one element; in_place: into x itself.

    Args:
        x: one element
        value: the number to add
        in_place: whether x itself changes
    Returns:
        x + value
    Example:
        >>> count = pm.layers.zeros([1])
        >>> pm.layers.increment(count, 2.0).shape
        (1,)
    """
    return emit("increment", {"X": x}, {"step": float(value)}, name=name, outputs={"Out": x if in_place else 1})


def sums(input: Sequence[Variable], out: Variable | None = None, name: str | None = None) -> Variable:
    """The sum of tensors of one shape, element by element. out: the variable to write; None: a new one."""
    return emit("sum", {"X": input}, name=name or layer_name("sum"), outputs={"Out": 1 if out is None else out})
