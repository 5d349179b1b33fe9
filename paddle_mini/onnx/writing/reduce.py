# Exporters of reductions and cumulative sums.
from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ..names import REDUCTIONS
from ..tensors import Unsupported
from .op import OpWriter, exporter
from .products import p_norm_of

_REDUCTIONS = {ours: theirs for theirs, ours in REDUCTIONS.items()} | {"reduce_amax": "ReduceMax", "reduce_amin": "ReduceMin"}


def axes_of(o: OpWriter, port: str = "X", name: str = "dim") -> list[int] | None:
    """The axes of attribute `dim`; None: all."""
    rank, dims = o.rank(port), list(o.attr(name) or [])
    if not rank or o.attr("reduce_all") or not dims or len({o.axis(dim, rank) for dim in dims}) == rank:
        return None
    return sorted({o.axis(dim, rank) for dim in dims})


def _narrowed(o: OpWriter, x: str, have: str, port: str = "Out") -> None:
    """Puts x, whose element type is `have`, as the type of the output."""
    wanted = o.out_dtype(port)
    o.put(x if wanted == have else o.cast(x, wanted), port)


@exporter(*_REDUCTIONS)
def reduction(o: OpWriter) -> None:
    name, x, have = _REDUCTIONS[o.type], o.x(), o.dtype()
    if have not in dtypes.FLOAT_NAMES and (have != "int64" or name == "ReduceMean"):
        x, have = (o.cast(x, "float64"), "float64") if name == "ReduceMean" else (o.cast(x, "int64"), "int64")
    elif name in ("ReduceMean", "ReduceSum") and o.attr("out_dtype") >= 0 and o.out_dtype() != have:
        have = o.out_dtype()
        x = o.cast(x, have)
    _narrowed(o, o.reduce(name, x, axes_of(o), o.attr("keep_dim")), have)


@exporter("reduce_all", "reduce_any")
def logical_reduction(o: OpWriter) -> None:
    x = o.cast(o.x(), "int32")
    name = "ReduceMin" if o.type == "reduce_all" else "ReduceMax"
    o.put(o.cast(o.reduce(name, x, axes_of(o), o.attr("keep_dim")), "bool"))


@exporter("mean")
def mean(o: OpWriter) -> None:
    made = o.reduce("ReduceMean", o.x(), None, keep=False)
    o.put(o.reshape(made, [1]) if o.out_shape() else made)


@exporter("logsumexp")
def logsumexp(o: OpWriter) -> None:
    o.put(o.reduce("ReduceLogSumExp", o.x(), axes_of(o, name="axis"), o.attr("keepdim")))


@exporter("frobenius_norm")
def frobenius_norm(o: OpWriter) -> None:
    o.put(p_norm_of(o, o.x(), 2.0, axes_of(o), o.attr("keep_dim")))


@exporter("p_norm")
def p_norm(o: OpWriter) -> None:
    rank = o.rank()
    axes = None if o.attr("asvector") or rank <= 1 else [o.axis(o.attr("axis"), rank)]
    made = p_norm_of(o, o.x(), o.attr("porder"), axes, o.attr("keepdim"))
    o.put(o.reshape(made, o.out_shape()) if axes is None else made)


@exporter("l1_norm", "squared_l2_norm")
def whole_norm(o: OpWriter) -> None:
    terms = o.emit("Abs", o.x()) if o.type == "l1_norm" else o.mul(o.x(), o.x())
    o.put(o.reshape(o.reduce("ReduceSum", terms, None, keep=False), o.out_shape()))


@exporter("norm")
def norm(o: OpWriter) -> None:
    axis = o.axis(o.attr("axis"), o.rank())
    squares = o.reduce("ReduceSum", o.mul(o.x(), o.x()), [axis], keep=True)
    size = o.emit("Sqrt", o.add(squares, o.like(o.attr("epsilon"))))
    o.put(o.div(o.x(), size))
    o.put(size, "Norm")


@exporter("clip_by_norm")
def clip_by_norm(o: OpWriter) -> None:
    size = p_norm_of(o, o.x(), 2.0, None, keep=False)
    limit = o.like(o.attr("max_norm"))
    o.put(o.emit("Where", o.emit("Greater", size, limit), o.div(o.mul(o.x(), limit), size), o.x()))


@exporter("arg_max", "arg_min")
def arg_extreme(o: OpWriter) -> None:
    x, flat = o.x(), o.attr("flatten")
    if flat:
        x = o.reshape(x, [-1])
    axis = 0 if flat else o.axis(o.attr("axis"), o.rank())
    keep = o.attr("keepdims") and not flat
    if o.rank() == 0 and not flat:
        x = o.reshape(x, [1])
        keep = False
    made = o.emit("ArgMax" if o.type == "arg_max" else "ArgMin", x, axis=axis, keepdims=int(keep))
    if flat and len(o.out_shape()) > 0:
        made = o.reshape(made, o.out_shape())
    _narrowed(o, made, "int64")


@exporter("cumsum")
def cumsum(o: OpWriter) -> None:
    if not o.rank():
        o.put(o.emit("Identity", o.x()) if not o.attr("exclusive") else o.like(0))
        return
    x = o.reshape(o.x(), [-1]) if o.attr("flatten") else o.x()
    axis = 0 if o.attr("flatten") else o.attr("axis")
    have = o.dtype()
    x = o.cast(x, "int64") if have == "int16" else x
    attrs = {"exclusive": int(o.attr("exclusive")), "reverse": int(o.attr("reverse"))}
    made = o.emit("CumSum", x, o.constant(axis, "int64"), **attrs)
    o.put(o.cast(made, have) if have == "int16" else made)


@exporter("trace")
def trace(o: OpWriter) -> None:
    rank = o.rank("Input")
    shape = o.static("Input")
    first, second = (o.axis(o.attr(name), rank) for name in ("axis1", "axis2"))
    others = [i for i in range(rank) if i not in (first, second)]
    mask = np.eye(shape[first], shape[second], o.attr("offset"))
    kept = o.mul(o.transpose(o.x("Input"), [*others, first, second]), o.constant(mask, o.dtype("Input")))
    o.put(o.reduce("ReduceSum", kept, [rank - 2, rank - 1], keep=False))


@exporter("accuracy")
def accuracy(o: OpWriter) -> None:
    rows = o.shape("Indices")[0]
    label = o.cast(o.reshape(o.x("Label"), [-1, 1]), "int64")
    equal = o.cast(o.emit("Equal", o.cast(o.x("Indices"), "int64"), label), "int32")
    correct = o.reduce("ReduceSum", o.reduce("ReduceMax", equal, [1], keep=False), None, keep=False)
    if rows == 0:
        raise Unsupported("an accuracy of no rows")
    total = o.cast(o.squeeze(o.dim(o.x("Indices"), 0), [0]), "int32")
    ratio = o.div(o.cast(correct, "float32"), o.cast(total, "float32"))
    for value, port in ((ratio, "Accuracy"), (correct, "Correct"), (total, "Total")):
        if o.wants(port):
            o.put(o.reshape(value, o.out_shape(port)) if o.out_shape(port) else value, port)


def number_of(o: OpWriter, port: str) -> Any:
    """A number as a scalar of int64."""
    return o.cast(o.reshape(o.x(port), []), "int64")
