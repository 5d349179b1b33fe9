# Converters of GridSample.
from __future__ import annotations

from functools import reduce as fold
from itertools import product

from ..variable import Variable
from .math import round_to_even, select
from .node import Node, converter

_CUBIC = -0.75


@converter("GridSample")
def grid_sample(n: Node) -> Variable:
    x, mode = n.x(), n.attr("mode")
    if mode in ("linear", "bilinear") and len(x.shape) in (4, 5):
        attrs = {"mode": "bilinear", "padding_mode": n.attr("padding_mode"), "align_corners": bool(n.attr("align_corners"))}
        return n.emit("grid_sampler", {"X": x, "Grid": n.x(1)}, attrs, "Output")
    sizes = [_size(n, x, axis) for axis in range(2, len(x.shape))]
    at = [_position(n, axis, size, len(sizes)) for axis, size in enumerate(sizes)]
    if mode == "nearest":
        return _shaped(n, _elements(n, x, [round_to_even(n, place) for place in at], sizes))
    taps = {"linear": range(2), "bilinear": range(2), "cubic": range(-1, 3), "bicubic": range(-1, 3)}[mode]
    low = [n.op("floor", place) for place in at]
    parts = [n.sub(place, first) for place, first in zip(at, low)]
    made = None
    for offsets in product(taps, repeat=len(sizes)):
        part = _elements(n, x, [n.scale(first, 1, offset) for first, offset in zip(low, offsets)], sizes)
        for fraction, offset in zip(parts, offsets):
            part = n.mul(part, _weight(n, n.op("abs", n.scale(fraction, 1, -offset)), len(taps) > 2))
        made = part if made is None else n.add(made, part)
    assert made is not None
    return _shaped(n, made)


def _size(n: Node, x: Variable, axis: int) -> Variable:
    """A dimension as a number, of the type of the grid."""
    dtype = n.x(1).dtype
    return n.constant([x.shape[axis]], dtype) if x.shape[axis] >= 0 else n.sizes(x, axis, axis + 1, dtype)


def _position(n: Node, axis: int, size: Variable, count: int) -> Variable:
    """The places along an axis of x, [images, 1, places]: the grid has the last axis first."""
    last, place = len(n.x(1).shape) - 1, count - 1 - axis
    at = n.emit("slice", {"Input": n.x(1)}, {"axes": [last], "starts": [place], "ends": [place + 1]})
    at = n.scale(n.reshape(at, [0, 1, -1]), 1, 1)
    if n.attr("align_corners"):
        return n.mul(n.scale(at, 0.5), n.scale(size, 1, -1))
    return n.scale(n.scale(n.mul(at, size), 1, -1), 0.5)


def _elements(n: Node, x: Variable, at: list[Variable], sizes: list[Variable]) -> Variable:
    """The elements of x at places without fractions, [images, channels, places]; padded where they are outside."""
    near = [_inside(n, place, size) for place, size in zip(at, sizes)]
    index = near[0]
    for place, size in zip(near[1:], sizes[1:]):
        index = n.add(n.mul(index, n.cast(size, "int64")), place)
    flat, channels = n.reshape(x, [0, 0, -1]), n.require_static(x, 1, 2)[0]
    wide = n.emit("expand_v2", {"X": index}, {"shape": [-1, channels, -1]})
    made: Variable = n.emit("take_along_axis", {"Input": flat, "Index": wide}, {"Axis": 2}, "Result")
    if n.attr("padding_mode") != "zeros":
        return made
    is_inside = fold(lambda a, b: n.op("logical_and", a, b), [n.op("equal", p, n.cast(q, p.dtype)) for p, q in zip(at, near)])
    return select(n, is_inside, made, n.constant(0, x.dtype))


def _inside(n: Node, at: Variable, size: Variable) -> Variable:
    """The places in x that are read for these."""
    if n.attr("padding_mode") == "reflection":
        # Between the centers of the first and the last element, or between their edges.
        low, span = (0.0, n.scale(size, 1, -1)) if n.attr("align_corners") else (-0.5, size)
        period = _bound(n, "elementwise_max", n.scale(span, 2), 1.0)
        folded = n.op("elementwise_mod", n.scale(at, 1, -low), period)
        at = n.scale(n.op("elementwise_min", folded, n.sub(period, folded)), 1, low)
    near = n.op("elementwise_min", at, n.scale(size, 1, -1))
    return n.cast(_bound(n, "elementwise_max", near, 0.0), "int64")


def _bound(n: Node, op_type: str, x: Variable, bound: float) -> Variable:
    return n.op(op_type, x, n.constant(bound, x.dtype))


def _weight(n: Node, distance: Variable, is_cubic: bool) -> Variable:
    if not is_cubic:
        return n.scale(distance, -1, 1)
    a = _CUBIC
    near, far = _bound(n, "elementwise_min", distance, 1.0), _bound(n, "elementwise_max", distance, 1.0)
    # Each polynomial is 0 at the ends of the other one's part.
    inner = n.mul(n.mul(n.scale(near, a + 2, -(a + 3)), near), near)
    outer = n.mul(n.scale(n.mul(n.scale(far, a, -5 * a), far), 1, 8 * a), far)
    return n.add(n.scale(inner, 1, 1), n.scale(outer, 1, -4 * a))


def _shaped(n: Node, made: Variable) -> Variable:
    """[images, channels, places] with the axes of the grid."""
    x, grid = n.x(0), n.x(1)
    axes = len(grid.shape) - 1
    ends = n.emit("concat", {"X": [n.sizes(x, 0, 2), n.sizes(grid, 1, axes)]}, {"axis": 0})
    shaped = n.emit("reshape2", {"X": made, "Shape": ends})
    shaped.set_info({**shaped.info(), "shape": [*x.shape[:2], *grid.shape[1:axes]]})
    return shaped
