# Converters of sequences: what their tensors are is known while the graph is read.
from __future__ import annotations

import numpy as np

from .._core import ProgramError
from ..variable import Variable
from .node import Items, Node, Rows, converter
from .tensors import Unsupported

_MOST_PARTS = 1 << 12  # a small file must not make a large program


@converter("SequenceEmpty")
def empty(n: Node) -> list[Items]:
    return [Items()]


@converter("SequenceConstruct")
def construct(n: Node) -> list[Items]:
    return [Items(n.inputs)]


@converter("SequenceLength")
def length(n: Node) -> np.ndarray:
    return np.array(len(n.items(0)), "int64")


def _place(n: Node, index: int, count: int) -> int:
    place = n.known_ints(index)[0]
    if not -count <= place < count:
        raise ProgramError(f"position {place} does not exist in a sequence of {count}")
    return place % count


@converter("SequenceAt")
def at(n: Node) -> None:
    items = n.items(0)
    n.reader.alias(n.outputs[0], items[_place(n, 1, len(items))])


@converter("SequenceInsert")
def insert(n: Node) -> list[Items]:
    items = Items(n.items(0))
    place = n.known_ints(2)[0] if n.has(2) else len(items)
    if abs(place) > len(items):
        raise ProgramError(f"position {place} does not exist in a sequence of {len(items)}")
    items.insert(place, n.inputs[1])
    return [items]


@converter("SequenceErase")
def erase(n: Node) -> list[Items]:
    items = Items(n.items(0))
    del items[_place(n, 1, len(items)) if n.has(1) else -1]
    return [items]


@converter("ConcatFromSequence")
def concat(n: Node) -> Variable:
    found = n.reader.sequence(n.inputs[0])
    if isinstance(found, Rows):
        return _joined(n, found.stacked)
    parts = [n.reader.variable(name) for name in n.items(0)]
    if not parts:
        raise Unsupported("a sequence without tensors")
    new, rank = n.attr("new_axis"), len(parts[0].shape)
    axis = n.axis(n.attr("axis"), rank + new)
    return n.emit("stack", {"X": parts}, {"axis": axis}, "Y") if new else n.emit("concat", {"X": parts}, {"axis": axis})


@converter("SequenceMap")
def map_each(n: Node) -> list[Items]:
    made = [Items() for _ in n.outputs]
    for place in range(len(n.items(0))):
        given = [
            n.reader.variable(n.items(index)[place] if n.reader.is_sequence(name) else name)
            for index, name in enumerate(n.inputs)
        ]
        for items, value in zip(made, n.reader.read_inner(n.attr("body"), given)):
            items.append(n.reader.add_variable(value))
    return made


def _joined(n: Node, stacked: Variable) -> Variable:
    new, rank = n.attr("new_axis"), len(stacked.shape)
    axis = n.axis(n.attr("axis"), rank - 1 + new)
    made = n.transpose(stacked, [*range(1, axis + 1), 0, *range(axis + 1, rank)])
    if new:
        return made
    return n.emit("flatten_contiguous_range", {"X": made}, {"start_axis": axis, "stop_axis": axis + 1})


@converter("SplitToSequence")
def split(n: Node) -> list[Items]:
    x = n.x()
    axis = n.axis(n.attr("axis"), len(x.shape))
    sizes = _sizes(n, x, axis)
    ends = np.cumsum(sizes).tolist()
    items = Items()
    for end, count in zip(ends, sizes):
        part = n.emit("slice", {"Input": x}, {"axes": [axis], "starts": [end - count], "ends": [end]})
        if not n.has(1) and not n.attr("keepdims"):
            part = n.emit("squeeze2", {"X": part}, {"axes": [axis]})
        items.append(n.reader.add_variable(part))
    return [items]


def _sizes(n: Node, x: Variable, axis: int) -> list[int]:
    if n.has(1) and n.known(1).ndim:
        return n.known_ints(1)
    step = n.known_ints(1)[0] if n.has(1) else 1
    (size,) = n.require_static(x, axis, axis + 1)
    if step < 1:
        raise ProgramError(f"parts of {step} elements")
    if size > _MOST_PARTS * step:
        raise Unsupported(f"more than {_MOST_PARTS} parts")
    return [min(step, size - first) for first in range(0, size, step)]
