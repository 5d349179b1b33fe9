# Converters of Pad.
from __future__ import annotations

import numpy as np

from ..variable import Variable
from .math import select
from .node import Node, converter

_FAR = 2**31 - 1


@converter("Pad")
def pad(n: Node) -> Variable:
    x, mode = n.x(), n.attr("mode")
    rank = len(x.shape)
    axes = [n.axis(axis, rank) for axis in (n.known_ints(3) if n.has(3) else range(rank))]
    dims = n.dims(1)
    pads = dims if dims is not None and len(dims) == 2 * len(axes) else [None] * (2 * len(axes))
    pairs = {axis: (pads[i], pads[i + len(axes)]) for i, axis in enumerate(axes)}
    known = {axis: (low, high) for axis, (low, high) in pairs.items() if low is not None and high is not None}
    if mode == "constant":
        x = _padded(n, x, known)
        return _filled(n, x, {axis: _places(n, x, axis, axes.index(axis)) for axis in axes if axis not in known})
    x = _cut(n, x, known)
    for axis in axes:
        low, high = known.get(axis, (1, 1))
        if axis in known and x.shape[axis] >= 0:
            if max(low, high) > 0:
                order = np.pad(np.arange(x.shape[axis]), (max(low, 0), max(high, 0)), mode=mode)
                x = _taken(n, x, axis, n.constant(order, "int64"))
        elif max(low, high) > 0:
            at, size = _places(n, x, axis, axes.index(axis), known.get(axis))
            x = _taken(n, x, axis, _mirrored(n, at, size, mode))
    return x


def _cut(n: Node, x: Variable, pairs: dict[int, tuple[int, int]]) -> Variable:
    """Negative pads leave out elements."""
    for axis, (low, high) in pairs.items():
        if min(low, high) < 0:
            part = {"axes": [axis], "starts": [max(-low, 0)], "ends": [high if high < 0 else _FAR]}
            x = n.emit("slice", {"Input": x}, part)
    return x


def _padded(n: Node, x: Variable, pairs: dict[int, tuple[int, int]]) -> Variable:
    """Mode constant, where pads are known."""
    x = _cut(n, x, pairs)
    flat = [max(amount, 0) for axis in range(len(x.shape)) for amount in pairs.get(axis, (0, 0))]
    known = n.array(2) if n.has(2) else np.zeros(1)
    if known is not None:
        return n.op("pad", x, paddings=flat, pad_value=float(known.item()) if known.size else 0.0)
    inside = n.op("pad", n.emit("fill_any_like", {"X": x}, {"value": 1.0, "dtype": "bool"}), paddings=flat, pad_value=0.0)
    return select(n, inside, n.op("pad", x, paddings=flat, pad_value=0.0), n.x(2))


def _filled(n: Node, x: Variable, places: dict[int, tuple[Variable, Variable]]) -> Variable:
    """Mode constant, along axes whose pads a run computes."""
    inside = None
    for axis, (at, size) in places.items():
        zero, last = n.constant([0], "int64"), n.scale(size, 1, -1)
        near = n.op("elementwise_max", n.op("elementwise_min", at, last), zero)
        mask = n.reshape(n.op("equal", at, near), [-1 if i == axis else 1 for i in range(len(x.shape))])
        inside = mask if inside is None else n.op("logical_and", inside, mask)
        x = _taken(n, x, axis, near)
    if inside is None:
        return x
    return select(n, inside, x, n.x(2) if n.has(2) else n.constant(0, x.dtype))


def _places(n: Node, x: Variable, axis: int, index: int, pair: tuple[int, int] | None = None) -> tuple[Variable, Variable]:
    """The places along an axis of x that the elements of the result have, which are outside of x where it is padded, and the
    dimension; index: that of the axis in the input of pads."""
    size = n.sizes(x, axis, axis + 1)
    if pair is None:
        pads = n.cast(n.x(1), "int64")
        count = n.require_static(pads)[0] // 2
        low, high = (
            n.emit("slice", {"Input": pads}, {"axes": [0], "starts": [i], "ends": [i + 1]}) for i in (index, index + count)
        )
    else:
        low, high = (n.constant([amount], "int64") for amount in pair)
    ends = {"Start": n.scale(low, -1), "End": n.add(size, high), "Step": n.constant([1], "int64")}
    return n.emit("range", ends), size


def _taken(n: Node, x: Variable, axis: int, index: Variable) -> Variable:
    return n.emit("index_select", {"X": x, "Index": index}, {"dim": axis})


def _mirrored(n: Node, at: Variable, size: Variable, mode: str) -> Variable:
    """The places of the elements of x that are repeated outside of it."""
    zero, one = n.constant([0], "int64"), n.constant([1], "int64")
    if mode == "wrap":
        return n.op("elementwise_mod", at, size)
    if mode == "edge":
        return n.op("elementwise_max", n.op("elementwise_min", at, n.scale(size, 1, -1)), zero)
    period = n.op("elementwise_max", n.scale(size, 2, -2), one)
    at = n.op("elementwise_mod", at, period)
    return n.op("elementwise_min", at, n.sub(period, at))
