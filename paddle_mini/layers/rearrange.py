# Layers that keep elements and change where they lie: shapes, axes, parts, repetitions.
from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from ..variable import Variable
from .emit import emit, emit_all, layer_name, require_variable

Axes = int | Sequence[int]


def reshape(x: Variable, shape: Sequence[int], name: str | None = None) -> Variable:
    """The same elements in another shape. 0 keeps x's dimension at that place; -1, once, is what is
    left over.

    x: any shape. shape: integers.
    Returns a tensor of that shape.
    Example:
        >>> x = pm.layers.data("x", [-1, 4, 6])
        >>> pm.layers.reshape(x, [0, 2, -1]).shape
        (-1, 2, 12)
    """
    return emit("reshape2", {"X": x}, {"shape": shape}, name=name, outputs={"Out": 1, "XShape": 1})


def transpose(x: Variable, perm: Sequence[int], name: str | None = None) -> Variable:
    """Puts axes in another order: axis i of the result is axis perm[i] of x.

    Args:
        x: any shape
        perm: the axes of x in their new order
    Returns:
        the same elements
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> pm.layers.transpose(a, [0, 2, 1]).shape
        (-1, 4, 3)
    """
    return emit("transpose2", {"X": x}, {"axis": perm}, name=name, outputs={"Out": 1, "XShape": 1})


def flatten(x: Variable, start_axis: int = 1, stop_axis: int = -1, name: str | None = None) -> Variable:
    """The axes from start_axis to stop_axis, both included, made one.

    Args:
        x: any shape
        start_axis: the first axis that is joined
        stop_axis: the last one
    Returns:
        the axes from start_axis to stop_axis as one
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> pm.layers.flatten(a).shape
        (-1, 12)
    """
    return emit(
        "flatten_contiguous_range",
        {"X": x},
        {"start_axis": start_axis, "stop_axis": stop_axis},
        name=name or layer_name("flatten"),
        outputs={"Out": 1, "XShape": 1},
    )


def squeeze(input: Variable, axes: Axes | None = None, name: str | None = None) -> Variable:
    """Removes axes of one element.

    Args:
        input: any shape
        axes: axes of one element to remove; None: all of them
    Returns:
        the other axes
    Example:
        >>> one = pm.layers.data("one", [4, 1, 3])
        >>> pm.layers.squeeze(one, [1]).shape
        (4, 3)
    """
    return emit(
        "squeeze2", {"X": input}, {"axes": listed(axes)}, name=name or layer_name("squeeze"), outputs={"Out": 1, "XShape": 1}
    )


def unsqueeze(input: Variable, axes: Axes, name: str | None = None) -> Variable:
    """Inserts axes of one element.

    Args:
        input: any shape
        axes: the positions of the new axes in the result
    Returns:
        the same elements
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.unsqueeze(x, [1]).shape
        (-1, 1, 8)
    """
    return emit(
        "unsqueeze2", {"X": input}, {"axes": listed(axes)}, name=name or layer_name("unsqueeze"), outputs={"Out": 1, "XShape": 1}
    )


def stack(x: Sequence[Variable], axis: int = 0, name: str | None = None) -> Variable:
    """Tensors of one shape put one after the other along a new axis.

    Args:
        x: tensors of one shape
        axis: the position of the new axis
    Returns:
        their shape with the new axis
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.stack([x, x], axis=1).shape
        (-1, 2, 8)
    """
    return emit("stack", {"X": [x] if isinstance(x, Variable) else x}, {"axis": axis}, name=name)


def expand(x: Variable, expand_times: Sequence[int], name: str | None = None) -> Variable:
    """x, repeated along each axis expand_times times.

    Args:
        x: any shape
        expand_times: how often the elements are repeated along each axis
    Returns:
        each dimension times its factor
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> pm.layers.expand(a, [1, 2, 1]).shape
        (-1, 6, 4)
    """
    return emit("expand", {"X": x}, {"expand_times": expand_times}, name=name)


def expand_as(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """x broadcast to the shape of y: axes of size 1 are repeated, new axes are added in front.

    Args:
        x: a shape that can be broadcast to that of y
        y: any shape
    Returns:
        the shape of y
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> one = pm.layers.data("one", [1, 4])
        >>> pm.layers.expand_as(one, a).shape
        (-1, 3, 4)
    """
    require_variable("expand_as", y)
    return emit("expand_as_v2", {"X": x, "Y": y}, {"target_shape": list(y.shape)}, name=name)


def broadcast_to(x: Variable, shape: Sequence[int], name: str | None = None) -> Variable:
    """x broadcast to a shape: axes of size 1 are repeated, new axes are added in front; -1 keeps x's.

    x: any shape. Returns a tensor of that shape.
    Example:
        >>> x = pm.layers.data("x", [1, 8])
        >>> pm.layers.broadcast_to(x, [4, 3, -1]).shape
        (4, 3, 8)
    """
    return emit("expand_v2", {"X": x}, {"shape": shape}, name=name)


def tile(x: Variable, repeat_times: Sequence[int], name: str | None = None) -> Variable:
    """x, repeated along each of the last axes repeat_times times.

    Args:
        x: any shape
        repeat_times: how often the elements are repeated along each of the last axes
    Returns:
        each dimension times its factor
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> pm.layers.tile(a, [2, 1]).shape
        (-1, 6, 4)
    """
    return emit("tile", {"X": x}, {"repeat_times": repeat_times}, name=name)


def pad(x: Variable, paddings: Sequence[int], pad_value: float = 0.0, name: str | None = None) -> Variable:
    """x with pad_value around it: paddings has the numbers of elements before and after, for each axis.

    x: any shape. Returns a tensor that is longer by these numbers.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.pad(x, [0, 0, 1, 3]).shape
        (-1, 12)
    """
    return emit("pad", {"X": x}, {"paddings": paddings, "pad_value": pad_value}, name=name)


def flip(x: Variable, axis: Axes, name: str | None = None) -> Variable:
    """x with each of the axes back to front.

    Args:
        x: any shape
        axis: an axis or a list of axes
    Returns:
        the shape of x
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.flip(x, axis=1).shape
        (-1, 8)
    """
    return emit("flip", {"X": x}, {"axis": listed(axis)}, name=name)


def reverse(x: Variable, axis: Axes, name: str | None = None) -> Variable:
    """The elements along each of the axes back to front: another name for flip.

    Args:
        x: any shape
        axis: an axis or a list of axes
    Returns:
        the shape of x
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.reverse(x, axis=1).shape
        (-1, 8)
    """
    return emit("reverse", {"X": x}, {"axis": listed(axis)}, name=name)


def roll(x: Variable, shifts: Axes, axis: Axes | None = None, name: str | None = None) -> Variable:
    """x moved by shifts along the axes, or as one line if axis is None; what leaves at one end comes in at
    the other.

    x: any shape, which is that of the result.
    Returns the shape of x.
    Example:
        >>> x = pm.layers.assign(np.array([1, 2, 3, 4]))
        >>> pm.Executor().run(fetch_list=[pm.layers.roll(x, 1)])[0]
        array([4, 1, 2, 3])
    """
    return emit("roll", {"X": x}, {"shifts": listed(shifts), "axis": listed(axis)}, name=name)


def meshgrid(input: Sequence[Variable], name: str | None = None) -> list[Variable]:
    """The coordinates of a grid: of lists [n0], [n1], ... as many tensors [n0, n1, ...]; the elements of
    tensor i are those of list i and change along axis i.

    input: the lists.
    Returns a list of these tensors.
    Example:
        >>> rows, columns = pm.layers.meshgrid([pm.layers.arange(2, dtype="float32"), pm.layers.arange(3, dtype="float32")])
        >>> pm.Executor().run(fetch_list=[columns])[0]
        array([[0., 1., 2.],
               [0., 1., 2.]], dtype=float32)
    """
    count = len(input) if isinstance(input, (list, tuple)) else 1
    return emit_all("meshgrid", {"X": input}, name=name, outputs={"Out": count})["Out"]  # type: ignore[return-value]


def listed(axes: Axes | None) -> Any:
    """One axis as a list of one, None as the empty list."""
    if axes is None:
        return []
    return [axes] if isinstance(axes, numbers.Integral) else axes
