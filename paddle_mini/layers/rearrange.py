# Layers that keep elements and change where they lie: shapes, axes, parts, repetitions.
from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..variable import Variable
from .emit import emit, emit_all, from_front, known_dim, layer_name, require_variable, whole

Axes = int | Sequence[int]


def reshape(x: Variable, shape: Sequence[int], name: str | None = None) -> Variable:
    """The same elements in another shape. 0 keeps x's dimension at that place; -1, once, is what is
    left over."""
    return emit("reshape2", {"X": x}, {"shape": shape}, name=name, outputs={"Out": 1, "XShape": 1})


def transpose(x: Variable, perm: Sequence[int], name: str | None = None) -> Variable:
    """Axes in another order: axis i of the result is axis perm[i] of x."""
    return emit("transpose2", {"X": x}, {"axis": perm}, name=name, outputs={"Out": 1, "XShape": 1})


def flatten(x: Variable, start_axis: int = 1, stop_axis: int = -1, name: str | None = None) -> Variable:
    """The axes from start_axis to stop_axis, both included, made one."""
    return emit(
        "flatten_contiguous_range",
        {"X": x},
        {"start_axis": start_axis, "stop_axis": stop_axis},
        name=name or layer_name("flatten"),
        outputs={"Out": 1, "XShape": 1},
    )


def squeeze(input: Variable, axes: Axes | None = None, name: str | None = None) -> Variable:
    """Without those of these axes that have one element; None: without all that have one."""
    return emit(
        "squeeze2", {"X": input}, {"axes": listed(axes)}, name=name or layer_name("squeeze"), outputs={"Out": 1, "XShape": 1}
    )


def unsqueeze(input: Variable, axes: Axes, name: str | None = None) -> Variable:
    """With new axes of one element, which lie at these places of the result."""
    return emit(
        "unsqueeze2", {"X": input}, {"axes": listed(axes)}, name=name or layer_name("unsqueeze"), outputs={"Out": 1, "XShape": 1}
    )


def split(input: Variable, num_or_sections: int | Sequence[int], dim: int = -1, name: str | None = None) -> list[Variable]:
    """The parts along an axis: so many equal ones, or parts of these lengths, of which one may be -1."""
    if isinstance(num_or_sections, (list, tuple, np.ndarray)):
        count, attrs = len(num_or_sections), {"sections": num_or_sections, "num": 0}
    else:
        count = whole("split", "num_or_sections", num_or_sections)
        attrs = {"sections": [], "num": count}
    made = emit_all("split", {"X": input}, {**attrs, "axis": from_front(input, dim)}, name=name, outputs={"Out": count})
    return made["Out"]  # type: ignore[return-value]


def stack(x: Sequence[Variable], axis: int = 0, name: str | None = None) -> Variable:
    """Tensors of one shape put one after the other along a new axis."""
    return emit("stack", {"X": [x] if isinstance(x, Variable) else x}, {"axis": axis}, name=name)


def unstack(x: Variable, axis: int = 0, num: int | None = None, name: str | None = None) -> list[Variable]:
    """The positions along an axis, without the axis. num: their number; None: from the shape."""
    require_variable("unstack", x)
    count = known_dim(x, axis, "unstack") if num is None else whole("unstack", "num", num)
    made = emit_all("unstack", {"X": x}, {"axis": axis, "num": count}, name=name, outputs={"Y": count})
    return made["Y"]  # type: ignore[return-value]


def unbind(input: Variable, axis: int = 0, name: str | None = None) -> list[Variable]:
    """The positions along an axis, without the axis, whose length must be known."""
    require_variable("unbind", input)
    count = known_dim(input, axis, "unbind")
    made = emit_all("unbind", {"X": input}, {"axis": axis}, name=name, outputs={"Out": count})
    return made["Out"]  # type: ignore[return-value]


def expand(x: Variable, expand_times: Sequence[int], name: str | None = None) -> Variable:
    """x repeated along each axis so often."""
    return emit("expand", {"X": x}, {"expand_times": expand_times}, name=name)


def expand_as(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """x broadcast to the shape of y: axes of size 1 are repeated, new axes are added in front."""
    require_variable("expand_as", y)
    return emit("expand_as_v2", {"X": x, "Y": y}, {"target_shape": list(y.shape)}, name=name)


def broadcast_to(x: Variable, shape: Sequence[int], name: str | None = None) -> Variable:
    """x broadcast to a shape: axes of size 1 are repeated, new axes are added in front; -1 keeps x's."""
    return emit("expand_v2", {"X": x}, {"shape": shape}, name=name)


def tile(x: Variable, repeat_times: Sequence[int], name: str | None = None) -> Variable:
    """x repeated along each of the last axes so often."""
    return emit("tile", {"X": x}, {"repeat_times": repeat_times}, name=name)


def pad(x: Variable, paddings: Sequence[int], pad_value: float = 0.0, name: str | None = None) -> Variable:
    """x with pad_value around it: paddings has the numbers of elements before and after, for each axis."""
    return emit("pad", {"X": x}, {"paddings": paddings, "pad_value": pad_value}, name=name)


def flip(x: Variable, axis: Axes, name: str | None = None) -> Variable:
    """x with each of the axes back to front."""
    return emit("flip", {"X": x}, {"axis": listed(axis)}, name=name)


def reverse(x: Variable, axis: Axes, name: str | None = None) -> Variable:
    """As flip."""
    return emit("reverse", {"X": x}, {"axis": listed(axis)}, name=name)


def roll(x: Variable, shifts: Axes, axis: Axes | None = None, name: str | None = None) -> Variable:
    """x moved by shifts along the axes, or as one line if axis is None; what leaves at one end comes in at
    the other."""
    return emit("roll", {"X": x}, {"shifts": listed(shifts), "axis": listed(axis)}, name=name)


def slice(input: Variable, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], name: str | None = None) -> Variable:
    """The part from starts up to ends, not included, along axes; negative positions count from the end."""
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
    """As slice, but with steps of strides, which may be negative."""
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
    variable whose shape it is."""
    given = {"Y": shape} if isinstance(shape, Variable) else {}
    attrs = {"offsets": listed(offsets), "shape": [] if given else shape}
    return emit("crop", {"X": x, **given}, attrs, name=name)


def crop_tensor(x: Variable, shape: Sequence[int], offsets: Sequence[int] | None = None, name: str | None = None) -> Variable:
    """As crop; -1 in shape: all elements from the offset on."""
    given = [0] * np.size(shape) if offsets is None else offsets
    return emit("crop_tensor", {"X": x}, {"shape": shape, "offsets": given}, name=name)


def meshgrid(input: Sequence[Variable], name: str | None = None) -> list[Variable]:
    """The coordinates of a grid: of lists [n0], [n1], ... as many tensors [n0, n1, ...]; the elements of
    tensor i are those of list i and change along axis i."""
    count = len(input) if isinstance(input, (list, tuple)) else 1
    return emit_all("meshgrid", {"X": input}, name=name, outputs={"Out": count})["Out"]  # type: ignore[return-value]


def listed(axes: Axes | None) -> Any:
    """One axis as a list of one, None as the empty list."""
    if axes is None:
        return []
    return [axes] if isinstance(axes, numbers.Integral) else axes
