# Layers that choose elements, by position or by condition, and that set them.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..variable import Variable
from .emit import emit, emit_all, from_front, layer_name, require_number, require_variable, whole
from .fill import full_like


def gather(input: Variable, index: Variable, axis: int = 0, name: str | None = None) -> Variable:
    """Gathers the slices of input at the positions in index, along the axis.

    index: [n] or [n, 1], int32 or int64. Returns the shape of input with n elements along the axis.
    Raises OpError at a run if a position is out of range.
    Example:
        >>> x, rows = pm.layers.data("x", [10, 8]), pm.layers.data("rows", [-1], "int64")
        >>> pm.layers.gather(x, rows).shape
        (-1, 8)
    """
    return emit("gather", {"X": input, "Index": index}, {"axis": from_front(input, axis)}, name=name)


def index_select(x: Variable, index: Variable, axis: int = 0, name: str | None = None) -> Variable:
    """The positions of x along an axis that index names: gather with this name.

    Args:
        x: any shape
        index: int32 or int64, [n]
        axis: the axis of the positions
    Returns:
        the shape of x, with n positions along the axis
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> index = pm.layers.data("index", [2], "int64")
        >>> pm.layers.index_select(x, index, axis=1).shape
        (-1, 2)
    """
    return emit("index_select", {"X": x, "Index": index}, {"dim": from_front(x, axis)}, name=name)


def index_add(x: Variable, index: Variable, axis: int, value: Variable, name: str | None = None) -> Variable:
    """x with value added along the axis at the positions in index, as often as they are named.

    index: [n], int32 or int64. value: the shape of x with n elements along the axis. Raises OpError at a
    run if a position is out of range. Returns the shape of x.
    Example:
        >>> x, rows, value = pm.layers.data("x", [10, 8]), pm.layers.data("rows", [3], "int64"), pm.layers.data("value", [3, 8])
        >>> pm.layers.index_add(x, rows, 0, value).shape
        (10, 8)
    """
    return emit("index_add", {"X": x, "Index": index, "AddValue": value}, {"axis": from_front(x, axis)}, name=name)


def unique_consecutive(
    x: Variable,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: str = "int64",
    name: str | None = None,
) -> Variable | tuple[Variable, ...]:
    """x without the elements that are equal to the one before them; with an axis, without such slices along it.

    Args:
        x: any shape.
        return_inverse: whether the position in the result of each element of x is returned too.
        return_counts: whether the number of elements that each stands for is returned too.
        axis: the axis of slices; None: the elements of the flattened x.
        dtype: the element type of positions and counts, int32 or int64.
    Returns:
        The result, whose size depends on data; with one of the options, a tuple.
    Example:
        >>> x = pm.layers.data("x", [-1])
        >>> out, counts = pm.layers.unique_consecutive(x, return_counts=True)
        >>> out.shape, counts.dtype
        ((-1,), 'int64')
    """
    attrs = {"return_inverse": return_inverse, "return_counts": return_counts, "dtype": dtypes.dtype_name(dtype)}
    axes = [] if axis is None else [from_front(x, axis)]
    optional = ["Index"] * return_inverse + ["Counts"] * return_counts
    made = emit_all("unique_consecutive", {"X": x}, {**attrs, "axis": axes}, name, outputs={"Index": 1, "Counts": 1})
    wanted = tuple(one for port in ["Out", *optional] if isinstance(one := made[port], Variable))
    return wanted if optional else wanted[0]


def repeat_interleave(x: Variable, repeats: int | Variable, axis: int = 0, name: str | None = None) -> Variable:
    """x with each slice along the axis repeated, one copy after the other.

    repeats: how often, at least 0: a number, or an int32 or int64 variable with one for each slice. Returns a variable
    whose axis has the sum of all repeats. Raises OpError at a run for a negative number in a variable.
    Example:
        >>> x = pm.layers.data("x", [4, 3])
        >>> pm.layers.repeat_interleave(x, 2).shape
        (8, 3)
    """
    if isinstance(repeats, Variable):
        inputs, attrs = {"X": x, "RepeatsTensor": repeats}, {}
    else:
        inputs, attrs = {"X": x}, {"Repeats": whole("repeat_interleave", "repeats", repeats, 0)}
    return emit("repeat_interleave", inputs, {**attrs, "dim": from_front(x, axis)}, name=name)


def take_along_axis(arr: Variable, indices: Variable, axis: int, name: str | None = None) -> Variable:
    """arr's elements at the same places but along the axis, where they are at the positions in indices.

    indices: arr's shape but for the axis, int32 or int64. Returns the shape of indices. Raises OpError at a
    run if a position is out of range.
    Example:
        >>> x, columns = pm.layers.data("x", [-1, 8]), pm.layers.data("columns", [-1, 2], "int64")
        >>> pm.layers.take_along_axis(x, columns, axis=1).shape
        (-1, 2)
    """
    return emit("take_along_axis", {"Input": arr, "Index": indices}, {"Axis": from_front(arr, axis)}, name=name)


def put_along_axis(
    arr: Variable,
    indices: Variable,
    values: float | Variable,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    name: str | None = None,
) -> Variable:
    """arr with values at the places that take_along_axis reads.

    values: the shape of indices, or a number. reduce: "assign": of several values for one element the last
    stays; "add", "mul" or "multiply", "mean", "amin", "amax": the sum, product, mean, smallest or largest of the values
    and, with include_self, of the element itself.
    axis: that of the positions. Returns the shape of arr.
    Example:
        >>> x, rows = pm.layers.data("x", [4, 8]), pm.layers.data("rows", [1, 8], "int64")
        >>> pm.layers.put_along_axis(x, rows, 1.0, axis=0, reduce="add").shape
        (4, 8)
    """
    require_variable("put_along_axis", arr)
    if not isinstance(values, Variable):
        require_number("put_along_axis", "values", values, arr.dtype)
        values = full_like(indices, values, arr.dtype, name=layer_name("put_along_axis", name))
    return emit(
        "put_along_axis",
        {"Input": arr, "Index": indices, "Value": values},
        {"Axis": from_front(arr, axis), "Reduce": reduce, "Include_self": include_self},
        name=name,
    )


def multiplex(inputs: Sequence[Variable], index: Variable, name: str | None = None) -> Variable:
    """Row i is row i of inputs[index[i]].

    inputs: [rows, ...], all of one shape. index: [rows, 1], int32 or int64. Raises OpError at a run when there
    is out of range. Returns that shape.
    Example:
        >>> x, y = pm.layers.data("x", [-1, 8]), pm.layers.data("y", [-1, 8])
        >>> pm.layers.multiplex([x, y], pm.layers.data("index", [-1, 1], "int64")).shape
        (-1, 8)
    """
    return emit("multiplex", {"Ids": index, "X": inputs}, name=name)


def tril(x: Variable, diagonal: int = 0, name: str | None = None) -> Variable:
    """x with zeros above the diagonal of each matrix: its last two axes. diagonal: 0 the main one, above 0 to
    the right of it.

    x: [..., rows, columns]; that is the shape of the result.
    Returns that shape.
    Example:
        >>> pm.Executor().run(fetch_list=[pm.layers.tril(pm.layers.ones([2, 2]))])[0]
        array([[1., 0.],
               [1., 1.]], dtype=float32)
    """
    return emit("tril_triu", {"X": x}, {"diagonal": diagonal, "lower": True}, name=name or layer_name("tril"))


def triu(x: Variable, diagonal: int = 0, name: str | None = None) -> Variable:
    """x with zeros below the diagonal of each matrix; as tril.

    Args:
        x: [..., rows, columns]
        diagonal: the first diagonal that stays; 1 is above the main one
    Returns:
        the shape of x
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> pm.layers.triu(a).shape
        (-1, 3, 4)
    """
    return emit("tril_triu", {"X": x}, {"diagonal": diagonal, "lower": False}, name=name or layer_name("triu"))


def allclose(
    x: Variable, y: Variable, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False, name: str | None = None
) -> Variable:
    """Whether |x − y| ≤ atol + rtol |y| everywhere: one truth. equal_nan: NaN is equal to NaN.

    Args:
        x: any shape
        y: the shape of x
        rtol: relative tolerance
        atol: absolute tolerance
        equal_nan: whether NaN is equal to NaN
    Returns:
        bool, one element
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.allclose(x, x).dtype
        'bool'
    """
    # The tolerances are text in the program: a float32 would round them.
    attrs = {"rtol": repr(float(rtol)), "atol": repr(float(atol)), "equal_nan": equal_nan}
    return emit("allclose", {"Input": x, "Other": y}, attrs, name=name)


def where(condition: Variable, x: Variable, y: Variable, name: str | None = None) -> Variable:
    """x's element where the condition is true, else y's; all three have one shape, condition is bool.

    x, y: any element type. Returns their shape.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.where(x > 0.0, x, x * 0.01).shape
        (-1, 8)
    """
    return emit("where", {"Condition": condition, "X": x, "Y": y}, name=name)


def one_hot(
    input: Variable, depth: int, allow_out_of_range: bool = False, dtype: Any = "float32", name: str | None = None
) -> Variable:
    """Rows of zeros with a 1 at the position given by the element of input.

    input: any shape, int32 or int64. Returns [..., depth]. Raises OpError at a run for a position that is
    not in [0, depth), or gives zeros there with allow_out_of_range.
    dtype: the element type of the result.
    Example:
        >>> label = pm.layers.data("label", [-1, 1], "int64")
        >>> pm.layers.one_hot(label, depth=10).shape
        (-1, 1, 10)
    """
    attrs = {"depth": whole("one_hot", "depth", depth), "allow_out_of_range": allow_out_of_range, "dtype": dtype}
    out = emit("one_hot_v2", {"X": input}, attrs, name=name or layer_name("one_hot"))
    out.stop_gradient = True
    return out
