# Exporters of sorting, of the largest elements, and of unique ones.
from __future__ import annotations

import numpy as np

from ... import dtypes
from .op import OpWriter, exporter


@exporter("top_k", "top_k_v2")
def top_k(o: OpWriter) -> None:
    k = o.cast(o.reshape(o.x("K"), [1]), "int64") if o.has("K") else o.ints([o.attr("k")])
    axis = o.attr("axis") if o.type == "top_k_v2" else -1
    largest = o.attr("largest") if o.type == "top_k_v2" else True
    _put_sorted(o, k, axis, largest)


@exporter("argsort")
def argsort(o: OpWriter) -> None:
    axis = o.axis(o.attr("axis"), o.rank())
    _put_sorted(o, o.dim(o.x(), axis) if o.rank() else o.ints([1]), axis, o.attr("descending"))


def _put_sorted(o: OpWriter, k: str, axis: int, largest: bool) -> None:
    x = o.x() if o.rank() else o.reshape(o.x(), [1])
    made = o.emit_many("TopK", 2, x, k, axis=axis if o.rank() else 0, largest=int(largest))
    for value, port in zip(made, ("Out", "Indices")):
        o.put(value if o.rank() else o.reshape(value, []), port)


@exporter("unique")
def unique(o: OpWriter) -> None:
    axes = list(o.attr("axis"))
    made = o.emit_many("Unique", 4, o.x(), axis=axes[0] if axes else None, sorted=int(o.attr("is_sorted")))
    dtype = dtypes.dtype_name(o.attr("dtype"))
    o.put(made[0])
    for port, value in zip(("Indices", "Index", "Counts"), made[1:]):
        if o.wants(port):
            o.put(o.cast(value, dtype), port)


@exporter("searchsorted")
def searchsorted(o: OpWriter) -> None:
    rank = o.rank("Values")
    # The number of elements that are less: each value beside the whole sequence.
    values = o.unsqueeze(o.x("Values"), [rank])
    sequence = o.x("SortedSequence")
    if o.rank("SortedSequence") > 1:
        sequence = o.unsqueeze(sequence, [o.rank("SortedSequence") - 1])
    less = o.emit("LessOrEqual" if o.attr("right") else "Less", sequence, values)
    count = o.reduce("ReduceSum", o.cast(less, "int64"), [rank], keep=False)
    o.put(o.cast(count, "int32") if o.attr("out_int32") else count)


@exporter("cumprod", "logcumsumexp")
def cumulative(o: OpWriter) -> None:
    """Each result from the elements before it: a triangle of all pairs of positions."""
    flat = o.type == "logcumsumexp" and o.attr("flatten")
    shape = [int(np.prod(o.static()))] if flat else o.shape()
    axis = 0 if flat else o.axis(o.attr("dim" if o.type == "cumprod" else "axis"), len(shape))
    if not shape:
        o.put(o.emit("Identity", o.x()))
        return
    size = shape[axis]
    if size < 0:
        o.static()
    x = o.reshape(o.x(), [-1]) if flat else o.x()
    wide = o.unsqueeze(x, [axis])
    mask = np.tril(np.ones((size, size), bool), -1 if o.type == "logcumsumexp" and o.attr("exclusive") else 0)
    if o.type == "logcumsumexp" and o.attr("reverse"):
        mask = mask[::-1, ::-1]
    truth = o.constant(mask.reshape([size, size] + [1] * (len(shape) - axis - 1)), "bool")
    if o.type == "cumprod":
        o.put(o.reduce("ReduceProd", o.emit("Where", truth, wide, o.like(1)), [axis + 1], keep=False))
        return
    lowest = o.like(float(np.finfo(o.dtype()).min))
    o.put(o.reduce("ReduceLogSumExp", o.emit("Where", truth, wide, lowest), [axis + 1], keep=False))
