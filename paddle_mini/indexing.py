# Operators that x[...] appends: slice or strided_slice, and unsqueeze2 for None.
from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, TypeAlias

from ._core import ProgramError, ShapeError, printable
from .arithmetic import append
from .transaction import atomic

if TYPE_CHECKING:
    from types import EllipsisType

    from .variable import Variable

    Key: TypeAlias = "int | slice | EllipsisType | None"

# As the end of a slice: beyond every dimension, at the back; and at the front, where strided_slice goes backwards.
_BACK, _FRONT = 2**31 - 1, -1

Cut = tuple[int, int, int, int]  # axis, start, end, stride


@atomic
def item(x: Variable, key: Key | tuple[Key, ...]) -> Variable:
    """x[key] as NumPy has it, for integers, slices of integers, `...` and None, which makes a
    new axis. ShapeError for an axis or position that does not exist, ProgramError for other keys."""
    keys = _one_for_each_axis(x, key if isinstance(key, tuple) else (key,))
    cuts: list[Cut] = []
    dropped: list[int] = []
    new: list[int] = []
    axis = kept = 0
    for part in keys:
        if part is None:
            new.append(kept)
            kept += 1
            continue
        if isinstance(part, slice):
            if part != slice(None):
                cuts.append((axis, *_bounds(x, axis, part)))
            kept += 1
        else:
            cuts.append((axis, *_position(x, axis, part)))
            dropped.append(axis)
        axis += 1
    out = _cut(x, cuts, dropped) if cuts else x
    return append(out, "unsqueeze2", {"X": out}, "XShape", axes=new) if new else out


def _one_for_each_axis(x: Any, keys: tuple[Any, ...]) -> list[Any]:
    """The keys, None aside, one for each axis: `...` written out."""
    dots = [place for place, key in enumerate(keys) if key is Ellipsis]
    if len(dots) > 1:
        raise ProgramError(f"'{printable(x.name)}' is indexed with more than one '...'")
    axes = len(keys) - len(dots) - sum(key is None for key in keys)
    if axes > len(x.shape):
        raise ShapeError(f"'{printable(x.name)}' {list(x.shape)} is indexed with {axes} positions, it has {len(x.shape)} axes")
    place = dots[0] if dots else len(keys)
    return [*keys[:place], *[slice(None)] * (len(x.shape) - axes), *keys[place + 1 :]]


def _position(x: Any, axis: int, key: Any) -> tuple[int, int, int]:
    index, size = _whole(x, key), x.shape[axis]
    if size >= 0 and not -size <= index < size:
        raise ShapeError(f"'{printable(x.name)}' {list(x.shape)} has no position {index} along axis {axis}")
    return index, _BACK if index == -1 else index + 1, 1


def _bounds(x: Any, axis: int, key: slice) -> tuple[int, int, int]:
    step = 1 if key.step is None else _whole(x, key.step)
    if step == 0:
        raise ProgramError(f"'{printable(x.name)}' is indexed with a slice whose step is 0")
    start, stop = (None if end is None else max(-_BACK, min(_whole(x, end), _BACK)) for end in (key.start, key.stop))
    step = max(-_BACK, min(step, _BACK))
    if step > 0:
        return 0 if start is None else start, _BACK if stop is None else stop, step
    if x.shape[axis] < 0:  # a stop of -1, the last one, leaves nothing
        return _BACK if start is None else start, _FRONT if stop is None else _BACK if stop == -1 else stop, step
    first, last, _ = slice(start, stop, step).indices(x.shape[axis])
    return (first, last, step) if first > last else (0, 0, step)


def _whole(x: Any, value: Any) -> int:
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    kind = type(value).__name__
    hint = "; layers.gather takes positions from a variable" if hasattr(value, "block") else ""
    raise ProgramError(
        f"'{printable(x.name)}' is indexed with a {kind}; supported are integers, slices of them, '...' and None{hint}"
    )


def _cut(x: Any, cuts: list[Cut], dropped: list[int]) -> Any:
    axes, starts, ends, strides = map(list, zip(*cuts))
    attrs = {"axes": axes, "starts": starts, "ends": ends, "infer_flags": [1] * len(axes), "decrease_axis": dropped}
    if all(stride == 1 for stride in strides):
        return append(x, "slice", {"Input": x}, **attrs)
    return append(x, "strided_slice", {"Input": x}, strides=strides, **attrs)
