# Layers that take parts of a tensor: slices, crops, splits.
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..variable import Variable
from .emit import emit, emit_all, from_front, known_dim, require_variable, whole
from .rearrange import listed


def split(input: Variable, num_or_sections: int | Sequence[int], dim: int = -1, name: str | None = None) -> list[Variable]:
    """The parts along an axis: so many equal ones, or parts of these lengths, of which one may be -1.

    input: any shape. num_or_sections: a number of equal parts, or the list of lengths. dim: the axis.
    Returns a list of these parts.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> [part.shape for part in pm.layers.split(x, [2, -1], dim=1)]
        [(-1, 2), (-1, 6)]
    """
    if isinstance(num_or_sections, (list, tuple, np.ndarray)):
        count, attrs = len(num_or_sections), {"sections": num_or_sections, "num": 0}
    else:
        count = whole("split", "num_or_sections", num_or_sections)
        attrs = {"sections": [], "num": count}
    made = emit_all("split", {"X": input}, {**attrs, "axis": from_front(input, dim)}, name=name, outputs={"Out": count})
    return made["Out"]  # type: ignore[return-value]


def unstack(x: Variable, axis: int = 0, num: int | None = None, name: str | None = None) -> list[Variable]:
    """The positions along an axis, without the axis. num: their number; None: from the shape.

    Args:
        x: any shape
        axis: an axis
        num: its length; None: from the shape
    Returns:
        a list of tensors without the axis
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> [part.shape for part in pm.layers.unstack(a, axis=1)]
        [(-1, 4), (-1, 4), (-1, 4)]
    """
    require_variable("unstack", x)
    count = known_dim(x, axis, "unstack") if num is None else whole("unstack", "num", num)
    made = emit_all("unstack", {"X": x}, {"axis": axis, "num": count}, name=name, outputs={"Y": count})
    return made["Y"]  # type: ignore[return-value]


def unbind(input: Variable, axis: int = 0, name: str | None = None) -> list[Variable]:
    """The positions along an axis, without the axis, whose length must be known.

    Args:
        input: any shape
        axis: an axis whose length is known
    Returns:
        a list of tensors without the axis
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> [part.shape for part in pm.layers.unbind(a, axis=1)]
        [(-1, 4), (-1, 4), (-1, 4)]
    """
    require_variable("unbind", input)
    count = known_dim(input, axis, "unbind")
    made = emit_all("unbind", {"X": input}, {"axis": axis}, name=name, outputs={"Out": count})
    return made["Out"]  # type: ignore[return-value]


def slice(input: Variable, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], name: str | None = None) -> Variable:
    """The part from starts up to ends, not included, along axes; negative positions count from the end.

    input: any shape. Returns that part, with all axes.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.slice(x, axes=[1], starts=[-3], ends=[8]).shape
        (-1, 3)
    """
    attrs = {
        "axes": from_front(input, axes),
        "starts": starts,
        "ends": ends,
        "infer_flags": [1] * np.size(axes),
        "decrease_axis": [],
    }
    return emit("slice", {"Input": input}, attrs, name=name)


def strided_slice(
    input: Variable,
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    strides: Sequence[int],
    name: str | None = None,
) -> Variable:
    """As slice, but with steps of strides, which may be negative.

    Args:
        input: any shape
        axes: the axes to cut
        starts: the first position along each
        ends: the position after the last one
        strides: the steps, which may be negative
    Returns:
        the elements at these positions
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.strided_slice(x, [1], [0], [8], [2]).shape
        (-1, 4)
    """
    attrs = {
        "axes": from_front(input, axes),
        "starts": starts,
        "ends": ends,
        "strides": strides,
        "infer_flags": [1] * np.size(axes),
        "decrease_axis": [],
    }
    return emit("strided_slice", {"Input": input}, attrs, name=name)


def crop(x: Variable, shape: Variable | Sequence[int], offsets: Sequence[int] | None = None, name: str | None = None) -> Variable:
    """The block of x that has this shape and begins at offsets, or at x's beginning. shape: numbers, or a
    variable whose shape it is.

    x: any shape. Returns a tensor of this shape.
    Example:
        >>> x = pm.layers.data("x", [4, 8])
        >>> pm.layers.crop(x, [2, 3], offsets=[1, 4]).shape
        (2, 3)
    """
    given = {"Y": shape} if isinstance(shape, Variable) else {}
    attrs = {"offsets": listed(offsets), "shape": [] if given else shape}
    return emit("crop", {"X": x, **given}, attrs, name=name)


def crop_tensor(x: Variable, shape: Sequence[int], offsets: Sequence[int] | None = None, name: str | None = None) -> Variable:
    """As crop; -1 in shape: all elements from the offset on.

    Args:
        x: any shape
        shape: of the result; -1: all elements from the offset on
        offsets: the first position along each axis; None: 0
    Returns:
        a tensor of this shape
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> pm.layers.crop_tensor(a, [-1, 2, 2], [0, 1, 0]).shape
        (-1, 2, 2)
    """
    given = [0] * np.size(shape) if offsets is None else offsets
    return emit("crop_tensor", {"X": x}, {"shape": shape, "offsets": given}, name=name)
