# Arrays of tensors, which loops write and read by position.
from __future__ import annotations

from typing import Any

from .. import dtypes
from .._core import ProgramError, printable
from ..guards import default_main_program
from ..variable import Variable
from .emit import block, emit, from_front, refuse, require_variable


def create_array(dtype: Any = "float32", name: str | None = None) -> Variable:
    """An empty array of tensors, for array_write.

    Args:
        dtype: the element type of the tensors
    Returns:
        the array
    Example:
        >>> pm.layers.create_array().dtype
        'float32'
    """
    return block().create_var(name or default_main_program().new_name("array"), dtype=dtype, shape=[], kind=dtypes.TENSOR_ARRAY)


def array_write(x: Variable, i: Variable, array: Variable | None = None) -> Variable:
    """array[i] = x.

    Args:
        x: the element
        i: one int32 or int64
        array: None: a new one
    Returns:
        the array
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> i = pm.layers.zeros([1], "int64")
        >>> array = pm.layers.array_write(x, i)
        >>> pm.layers.array_read(array, i).shape
        (-1, 8)
    """
    require_variable("array_write", x)
    array = create_array(x.dtype) if array is None else array
    _require_array("array_write", array)
    array.set_info({**array.info(), "dtype": x.dtype, "shape": list(x.shape)})
    return emit("write_to_array", {"X": x, "I": i}, outputs={"Out": array})


def array_read(array: Variable, i: Variable) -> Variable:
    """array[i]. Raises OpError at a run when nothing was written there.

    Args:
        array: of array_write
        i: one int32 or int64
    Returns:
        the element
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> i = pm.layers.zeros([1], "int64")
        >>> array = pm.layers.array_write(x, i)
        >>> pm.layers.array_read(array, i).shape
        (-1, 8)
    """
    _require_array("array_read", array)
    out = block().create_var(default_main_program().new_name("array_read.tmp"), dtype=array.dtype, shape=array.shape)
    return emit("read_from_array", {"X": array, "I": i}, outputs={"Out": out})


def array_length(array: Variable) -> Variable:
    """The number of elements of an array: int64 [1].

    Args:
        array: of array_write
    Returns:
        int64 [1]
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> i = pm.layers.zeros([1], "int64")
        >>> array = pm.layers.array_write(x, i)
        >>> pm.layers.array_length(array).shape
        (1,)
    """
    _require_array("array_length", array)
    out = block().create_var(default_main_program().new_name("array_length.tmp"), dtype="int64", shape=[1], stop_gradient=True)
    return emit("lod_array_length", {"X": array}, outputs={"Out": out})


def tensor_array_to_tensor(input: Variable, axis: int = 0, use_stack: bool = False) -> tuple[Variable, Variable]:
    """(the elements of an array joined along the axis, or stacked along a new one; the size of each
    along it, int32 [n]).

    input: a tensor array. use_stack: along a new axis.
    Returns these two variables.
    Example:
        >>> x, array = pm.layers.ones([2, 3]), pm.layers.create_array("float32")
        >>> for step in range(4):
        ...     array = pm.layers.array_write(x, pm.layers.fill_constant([1], "int64", step), array)
        >>> out, sizes = pm.layers.tensor_array_to_tensor(array)
        >>> [value.shape for value in pm.Executor().run(fetch_list=[out, sizes])]
        [(8, 3), (4,)]
    """
    _require_array("tensor_array_to_tensor", input)
    dims = list(input.shape)
    place = axis + len(dims) + use_stack if axis < 0 else axis
    dims[place : place + (not use_stack)] = [-1]
    new_name = default_main_program().new_name
    out = block().create_var(new_name("tensor_array_to_tensor.tmp"), dtype=input.dtype, shape=dims)
    index = block().create_var(new_name("tensor_array_to_tensor.tmp"), dtype="int32", shape=[-1], stop_gradient=True)
    emit(
        "tensor_array_to_tensor",
        {"X": input},
        {"axis": from_front(input, axis, int(use_stack)), "use_stack": use_stack},
        outputs={"Out": out, "OutIndex": index},
    )
    return out, index


def _require_array(layer: str, array: Variable) -> None:
    require_variable(layer, array)
    if array.kind != dtypes.TENSOR_ARRAY:
        refuse(ProgramError, f"{layer}: '{printable(array.name)}' is not an array: create_array and array_write make one")
