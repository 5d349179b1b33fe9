# Layers that make, copy and join tensors, and count.
from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from .._core import ProgramError, printable
from ..errors import shown
from ..feeds import unmasked
from ..guards import default_main_program
from ..initializer import value_attrs
from ..variable import Parameter, Variable
from . import emit as door
from .emit import at_users_line, emit, layer_name, refuse, require_variable


def data(name: str, shape: Sequence[int], dtype: Any = "float32", lod_level: int = 0) -> Variable:
    """A variable that exe.run(feed={name: ...}) gives a value.

    shape: with -1, or None, for dimensions that differ from run to run. append_backward stops here;
    set .stop_gradient = False to have a gradient.
    dtype: the element type of fed values. lod_level: levels of sequences, 0 for plain tensors. Returns
    the variable.
    Example:
        >>> x = pm.layers.data("x", [-1, 2])
        >>> pm.Executor().run(feed={"x": np.ones((3, 2), "float32")}, fetch_list=[x * 2.0])[0].shape
        (3, 2)
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
        if list(there.shape) != dims or there.dtype != dtype or there.lod_level != lod_level:
            levels = f" with lod_level {there.lod_level}" if there.lod_level != lod_level else ""
            refuse(
                ProgramError,
                f"data '{printable(name)}' is there already as {list(there.shape)} {there.dtype}{levels}: give it another name, "
                "or call pm.reset_default_programs() before a network that is not to be added to this one",
            )
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
    """A new parameter; initialised with Xavier, or zeros with is_bias, unless attr or default_initializer is set.

    shape: the dimensions, all known. dtype: the element type. attr: a ParamAttr, a name or an initializer. Returns the
    Parameter, which is one of this name that is there already. Raises ShapeError when that has another shape or dtype.
    Example:
        >>> weight = pm.layers.create_parameter([8, 4], attr=pm.ParamAttr("weight", pm.initializer.Normal(scale=0.1)))
        >>> weight.name, weight.shape
        ('weight', (8, 4))
    """
    if name is not None and attr is None:
        attr = name
    return door.create_parameter(
        shape, dtypes.dtype_name(dtype), attr, layer_name("create_parameter"), default_initializer, bias=is_bias
    )


def create_global_var(
    shape: Sequence[int], value: float, dtype: Any = "float32", persistable: bool = True, name: str | None = None
) -> Variable:
    """A variable that outlives runs and that no optimizer changes; the startup program sets every
    element to `value`.

    shape, dtype: its dimensions, all known, and its element type. persistable: whether its value outlives a run.
    Returns the variable.
    Example:
        >>> seen = pm.layers.create_global_var([1], 0, dtype="int64", name="rows_seen")
        >>> seen.persistable
        True
    """
    if not persistable:
        refuse(ProgramError, "create_global_var: the startup program can only set what is persistable")
    return door.create_state(name or layer_name("global_var"), shape, dtypes.dtype_name(dtype), value)


def assign(input: Any, output: Variable | None = None, name: str | None = None) -> Variable:
    """A copy of a variable, or of a NumPy array, number or list, which becomes part of the program.
    output: the variable to write; None: a new one.

    input: the value to copy. Returns output, or the new variable, of the shape and element type of input.
    Example:
        >>> x = pm.layers.assign(np.array([[1.0, 2.0]], "float32"))
        >>> x.shape, x.dtype
        ((1, 2), 'float32')
    """
    written = {"Out": output if output is not None else 1}
    if isinstance(input, Variable):
        return emit("assign", {"X": input}, name=name, outputs=written)
    value = np.asarray(unmasked(input, "assign: input"))
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
    require_variable("increment", x)
    if x.dtype in dtypes.INTEGER_NAMES and isinstance(value, numbers.Real) and value != value // 1:
        refuse(ProgramError, f"increment: value is {shown(value)}, for '{printable(x.name)}', {x.dtype}, it must be whole")
    return emit("increment", {"X": x}, {"step": value}, name=name, outputs={"Out": x if in_place else 1})


def sums(input: Sequence[Variable], out: Variable | None = None, name: str | None = None) -> Variable:
    """The sum of tensors of one shape, element by element. out: the variable to write; None: a new one.

    input: the tensors, float or integer. Returns out, or the new variable, of their shape.
    Example:
        >>> x, y = pm.layers.data("x", [-1, 8]), pm.layers.data("y", [-1, 8])
        >>> pm.layers.sums([x, y, y]).shape
        (-1, 8)
    """
    return emit("sum", {"X": input}, name=name or layer_name("sum"), outputs={"Out": 1 if out is None else out})
