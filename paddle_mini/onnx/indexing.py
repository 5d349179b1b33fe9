# Converters of slices, of pads, and of operators that gather and scatter elements.
from __future__ import annotations

from typing import Any

import numpy as np

from .._core import ProgramError
from ..variable import Variable
from .math import select
from .names import SCATTER_REDUCTIONS
from .node import Node, converter
from .tensors import Unsupported

_FAR = 2**31 - 1  # the attributes of slices have 32 bits


def _near(value: int) -> int:
    return max(-_FAR, min(value, _FAR))


@converter("Slice")
def slice_(n: Node) -> Variable:
    x = n.x()
    if n.array(1) is None or n.array(2) is None:
        return _slice_of_data(n, x)
    starts, ends = n.known_ints(1), n.known_ints(2)
    rank = len(x.shape)
    axes = [n.axis(axis, rank) for axis in (n.known_ints(3) if n.has(3) else range(len(starts)))]
    steps = n.known_ints(4) if n.has(4) else [1] * len(starts)
    dims = n.dims(0)
    if dims is not None and rank == 1 and len(starts) == 1:
        n.reader.set_dims(n.outputs[0], dims[starts[0] : ends[0] : steps[0]])
    attrs: dict[str, Any] = {"axes": axes, "starts": list(map(_near, starts)), "ends": list(map(_near, ends))}
    if all(step == 1 for step in steps):
        return n.emit("slice", {"Input": x}, attrs)
    attrs["ends"] = [_end(n, end, step, x.shape[axis]) for end, step, axis in zip(ends, steps, axes)]
    return n.emit("strided_slice", {"Input": x}, {**attrs, "strides": list(map(_near, steps))})


def _slice_of_data(n: Node, x: Variable) -> Variable:
    """A slice whose starts or ends a run computes."""
    bounds = [n.x(index) for index in (1, 2)]
    (count,) = n.require_static(bounds[0])
    if n.has(4) and n.known_ints(4) != [1] * count:
        raise Unsupported("starts and ends that a run computes, with steps other than 1")
    axes = [n.axis(axis, len(x.shape)) for axis in (n.known_ints(3) if n.has(3) else range(count))]
    near = [n.constant(value, "int64") for value in (-_FAR, _FAR)]
    bounds = [n.op("elementwise_min", n.op("elementwise_max", n.cast(value, "int64"), near[0]), near[1]) for value in bounds]
    return n.emit("slice", {"Input": x, "StartsTensor": bounds[0], "EndsTensor": bounds[1]}, {"axes": axes})


def _end(n: Node, end: int, step: int, size: int) -> int:
    """An end as strided_slice has it: there -1 of a step below 0 is before the first element."""
    if step > 0 or end >= 0:
        return _near(end)
    if size < 0 and end > -_FAR:
        raise Unsupported("an end that counts from the end of a dimension, which must be known")
    return max(end + max(size, 0), -1)


@converter("Split")
def split(n: Node) -> list[Variable]:
    x = n.x()
    axis = n.axis(n.attr("axis"), len(x.shape))
    count = len(n.outputs)
    if n.has(1):
        sections = n.known_ints(1)
    else:
        size = x.shape[axis]
        if size < 0:
            raise Unsupported(f"equal parts of dimension {axis}, which must be known")
        part = -(-size // count)
        sections = [part] * (count - 1) + [size - part * (count - 1)]
    if len(sections) != count:
        raise ProgramError(f"{len(sections)} parts for {count} outputs")
    if 0 in sections:
        ends = np.cumsum(sections).tolist()
        return [
            n.emit("slice", {"Input": x}, {"axes": [axis], "starts": [end - part], "ends": [end]})
            for end, part in zip(ends, sections)
        ]
    return n.emit_list("split", {"X": x}, {"axis": axis, "sections": sections}, "Out", count)


def _from_front(n: Node, index: Variable, size: Any, sized: Variable, axis: int) -> Variable:
    """Indices, of which negative ones count from the end."""
    if size < 0:
        count = n.sizes(sized, axis, axis + 1, index.dtype)
        count = count if index.shape else n.reshape(count, [])
    else:
        count = n.constant(size, index.dtype)
    negative = n.cast(n.op("less_than", index, n.constant(0, index.dtype)), index.dtype)
    return n.add(index, n.mul(negative, count))


@converter("Gather")
def gather(n: Node) -> Any:
    dims, known = n.dims(0), n.array(1)
    if dims is not None and known is not None and len(n.x().shape) == 1:
        picked = [dims[int(i)] for i in known.ravel()]
        if None not in picked:
            return np.array(picked, "int64").reshape(known.shape)
        n.reader.set_dims(n.outputs[0], picked)
    x, index = n.x(0), n.x(1)
    axis = n.axis(n.attr("axis"), len(x.shape))
    if known is None or (known < 0).any():
        index = _from_front(n, index, x.shape[axis], x, axis)
    rank = len(index.shape)
    if rank == 1:
        return n.emit("gather", {"X": x, "Index": index}, {"axis": axis})
    if rank == 0:
        one = n.emit("gather", {"X": x, "Index": n.reshape(index, [1])}, {"axis": axis})
        return n.emit("squeeze2", {"X": one}, {"axes": [axis]})
    if axis == 0 and len(x.shape) == 2 and x.dtype in ("float32", "float64"):
        return n.emit("lookup_table_v2", {"W": x, "Ids": index})
    return _gather_many(n, x, index, axis)


def _gather_many(n: Node, x: Variable, index: Variable, axis: int) -> Variable:
    """x along an axis at indices of several dimensions: gather_nd reads the first axes, so this axis becomes the first."""
    rank, more = len(x.shape), len(index.shape)
    front = n.transpose(x, [axis, *(i for i in range(rank) if i != axis)]) if axis else x
    picked = n.emit("gather_nd", {"X": front, "Index": n.emit("unsqueeze2", {"X": index}, {"axes": [more]})})
    if not axis:
        return picked
    order = [*range(more, more + axis), *range(more), *range(more + axis, more + rank - 1)]
    return n.transpose(picked, order)


@converter("GatherElements")
def gather_elements(n: Node) -> Variable:
    x = n.x()
    axis = n.axis(n.attr("axis"), len(x.shape))
    index = _from_front(n, n.x(1), x.shape[axis], x, axis)
    # take_along_axis broadcasts the other axes of Index; ONNX reads only the elements that Index has there.
    for i, (have, want) in enumerate(zip(x.shape, index.shape)):
        if i != axis and (have != want or want < 0):
            given = {"EndsTensor": n.sizes(index, i, i + 1)} if want < 0 else {}
            x = n.emit("slice", {"Input": x, **given}, {"axes": [i], "starts": [0], "ends": [max(want, 0)]})
    return n.emit("take_along_axis", {"Input": x, "Index": index}, {"Axis": axis}, "Result")


def _flat_positions(n: Node, x: Variable, index: Variable) -> Variable:
    """Indices of the last axis of Index, from the front."""
    depth = index.shape[-1]
    if depth < 0:
        raise Unsupported(f"indices '{index.name}' {list(index.shape)}, whose last dimension must be known")
    sizes = x.shape[:depth]
    counts = n.sizes(x, 0, depth, index.dtype) if min(sizes, default=0) < 0 else n.constant(list(sizes), index.dtype)
    negative = n.cast(n.op("less_than", index, n.constant(0, index.dtype)), index.dtype)
    return n.add(index, n.mul(negative, counts))


@converter("GatherND")
def gather_nd(n: Node) -> Variable:
    x, index, batch = n.x(0), n.x(1), n.attr("batch_dims")
    if batch:
        sizes = n.require_static(index)[:batch]
        grid = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), -1)
        inner = n.require_static(index)[batch:-1]
        rows = np.broadcast_to(grid.reshape([*sizes, *[1] * len(inner), batch]), [*sizes, *inner, batch])
        index = n.emit("concat", {"X": [n.constant(rows.copy(), index.dtype), index]}, {"axis": len(index.shape) - 1})
    return n.emit("gather_nd", {"X": x, "Index": _flat_positions(n, x, index)})


@converter("ScatterND")
def scatter_nd(n: Node) -> Variable:
    x, index, updates, how = n.x(0), n.x(1), n.x(2), n.attr("reduction", "none")
    index = _flat_positions(n, x, index)
    if x.dtype == "bool":
        return n.cast(_scattered(n, n.cast(x, "int32"), index, n.cast(updates, "int32"), how), "bool")
    return _scattered(n, x, index, updates, how)


def _scattered(n: Node, x: Variable, index: Variable, updates: Variable, how: str) -> Variable:
    if how == "add":
        return n.emit("scatter_nd_add", {"X": x, "Index": index, "Updates": updates})
    # The rows that the indices name, as one axis: put_along_axis then sets or combines their elements.
    depth = index.shape[-1]
    if depth == 1 and len(index.shape) == 2 and how == "none" and min(x.shape[1:], default=0) < 0:
        return n.emit("scatter", {"X": x, "Ids": n.reshape(index, [-1]), "Updates": updates}, {"overwrite": True})
    shape = [x.shape[0], *n.require_static(x, 1)]  # the first dimension is not needed for positions
    width = int(np.prod(shape[depth:], dtype=np.int64))
    strides = [int(np.prod(shape[i + 1 : depth], dtype=np.int64)) for i in range(depth)]
    row = n.op("reduce_sum", n.mul(index, n.constant(strides, index.dtype)), dim=[len(index.shape) - 1])
    count = -1 if min(index.shape) < 0 else int(np.prod(index.shape[:-1], dtype=np.int64))
    rows = n.emit("expand_v2", {"X": n.reshape(row, [count, 1])}, {"shape": [count, width]})
    flat = n.reshape(x, [-1 if shape[0] < 0 else int(np.prod(shape[:depth], dtype=np.int64)), width])
    return n.reshape(_put(n, flat, rows, n.reshape(updates, [count, width]), 0, how), shape)


def _put(n: Node, x: Variable, index: Variable, value: Variable, axis: int, how: str) -> Variable:
    attrs = {"Axis": axis, "Reduce": SCATTER_REDUCTIONS[how], "Include_self": True}
    return n.emit("put_along_axis", {"Input": x, "Index": index, "Value": value}, attrs, "Result")


@converter("ScatterElements")
def scatter_elements(n: Node) -> Variable:
    x, value = n.x(0), n.x(2)
    axis = n.axis(n.attr("axis"), len(x.shape))
    index = _from_front(n, n.x(1), x.shape[axis], x, axis)
    how = n.attr("reduction", "none")
    other = [i for i in range(len(x.shape)) if i != axis and (x.shape[i] != index.shape[i] or x.shape[i] < 0)]
    if not other:
        return _put(n, x, index, value, axis, how)
    if len(other) == 1 and min(x.shape[other[0]], index.shape[other[0]]) < 0:
        return _scattered_in_front(n, x, index, axis, other[0])
    shape, small = n.require_static(x), n.require_static(index)
    # Index covers a part of the other axes: positions in the flat tensor instead.
    places = np.indices(small, dtype=np.int64)
    strides = [int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape))]
    base = sum(places[i] * strides[i] for i in range(len(shape)) if i != axis) + np.zeros(small, "int64")
    flat = n.add(n.scale(n.cast(index, "int64"), strides[axis]), n.constant(base, "int64"))
    total, count = int(np.prod(shape, dtype=np.int64)), int(np.prod(small, dtype=np.int64))
    made = _put(n, n.reshape(x, [total]), n.reshape(flat, [count]), n.reshape(value, [count]), 0, how)
    return n.reshape(made, shape)


def _scattered_in_front(n: Node, x: Variable, index: Variable, axis: int, other: int) -> Variable:
    """ScatterElements where only a run knows how much of one other axis Index covers: this part of x, and then the rest."""
    count = n.sizes(index, other, other + 1)
    front = n.emit("slice", {"Input": x, "EndsTensor": count}, {"axes": [other], "starts": [0], "ends": [0]})
    rest = n.emit("slice", {"Input": x, "StartsTensor": count}, {"axes": [other], "starts": [0], "ends": [_FAR]})
    made = _put(n, front, index, n.x(2), axis, n.attr("reduction", "none"))
    whole = n.emit("concat", {"X": [made, rest]}, {"axis": other})
    whole.set_info(x.info())
    return whole


@converter("OneHot")
def one_hot(n: Node) -> Variable:
    depth = n.known_ints(1)[0]
    index, values = n.cast(n.x(0), "int64"), n.x(2)
    index = n.add(index, n.scale(n.cast(n.op("less_than", index, n.constant(0, "int64")), "int64"), depth))
    rank = len(index.shape)
    hot = n.op("one_hot_v2", index, depth=depth, allow_out_of_range=True)
    axis = n.axis(n.attr("axis"), rank + 1)
    if axis != rank:
        hot = n.transpose(hot, [*range(axis), rank, *range(axis, rank)])
    off, on = (n.emit("slice", {"Input": values}, {"axes": [0], "starts": [i], "ends": [i + 1]}) for i in (0, 1))
    return select(n, n.cast(hot, "bool"), on, off)


@converter("NonZero")
def non_zero(n: Node) -> Variable:
    return n.transpose(n.emit("where_index", {"Condition": n.x()}), [1, 0])


@converter("Compress")
def compress(n: Node) -> Variable:
    x, axis = n.x(0), n.attr("axis")
    x = n.reshape(x, [-1]) if axis is None else x
    rows = n.reshape(n.emit("where_index", {"Condition": n.x(1)}), [-1])
    return n.emit("index_select", {"X": x, "Index": rows}, {"dim": n.axis(axis or 0, len(x.shape))})


@converter("ReverseSequence")
def reverse_sequence(n: Node) -> Variable:
    x, lengths = n.x(0), n.cast(n.x(1), "int64")
    by_batch = n.attr("batch_axis") == 0
    order = [1, 0, *range(2, len(x.shape))]
    x = n.transpose(x, order) if by_batch else x
    zero, one = n.constant([0], "int64"), n.constant([1], "int64")
    step, row = (
        n.reshape(n.emit("range", {"Start": zero, "End": n.sizes(x, axis, axis + 1), "Step": one}), shape)
        for axis, shape in ((0, [-1, 1]), (1, [1, -1]))
    )
    mirrored = n.sub(n.scale(n.reshape(lengths, [1, -1]), 1, -1), step)
    source = select(n, n.op("less_than", mirrored, zero), step, mirrored)
    rows = n.add(n.scale(source, 0), row)
    made = n.emit("gather_nd", {"X": x, "Index": n.emit("stack", {"X": [source, rows]}, {"axis": 2}, "Y")})
    return n.transpose(made, order) if by_batch else made
