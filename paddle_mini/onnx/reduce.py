# Converters of reductions, sorting and cumulative sums.
from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..variable import Variable
from .names import REDUCTIONS
from .node import Node, converter
from .tensors import Unsupported


def reduced(n: Node, op_type: str, x: Variable) -> Variable:
    """x reduced over the node's axes, with the element type of x."""
    axes, rank = n.axes(), len(x.shape)
    if not axes and n.attr("noop_with_empty_axes", 0):
        return n.op("assign", x)
    attrs: dict[str, Any] = {"dim": [n.axis(axis, rank) for axis in axes or range(rank)], "keep_dim": bool(n.attr("keepdims"))}
    if not rank:
        return n.op("assign", x)
    attrs["reduce_all"] = len(attrs["dim"]) == rank
    if op_type in ("reduce_max", "reduce_min") and any(x.shape[axis] == 0 for axis in attrs["dim"]):
        return _extreme_of_none(n, op_type, x, attrs["dim"])
    if x.dtype in ("bool", "int8", "uint8", "int16", "int32") and op_type not in ("reduce_mean",):
        return n.cast(n.op(op_type, n.cast(x, "int64"), **attrs), x.dtype)
    return n.op(op_type, x, **attrs)


def _extreme_of_none(n: Node, op_type: str, x: Variable, dims: list[int]) -> Variable:
    """The maximum of no elements, as ONNX defines it: the least value of the type; for a minimum the greatest."""
    kept = [1 if axis in dims else dim for axis, dim in enumerate(n.require_static(x)) if axis not in dims or n.attr("keepdims")]
    if x.dtype == "bool":
        value = float(op_type == "reduce_min")
    elif x.dtype in dtypes.FLOAT_NAMES:
        value = float("-inf") if op_type == "reduce_max" else float("inf")
    else:
        limits = np.iinfo(x.dtype)
        return n.constant(np.full(kept, limits.min if op_type == "reduce_max" else limits.max), x.dtype)
    return n.emit("fill_constant", {}, {"shape": kept, "dtype": x.dtype, "value": value})


@converter(*REDUCTIONS)
def reduction(n: Node) -> Variable:
    return reduced(n, REDUCTIONS[n.type], n.x())


@converter("ReduceL1")
def reduce_l1(n: Node) -> Variable:
    return reduced(n, "reduce_sum", n.op("abs", n.x()))


@converter("ReduceL2")
def reduce_l2(n: Node) -> Variable:
    return n.op("sqrt", reduced(n, "reduce_sum", n.mul(n.x(), n.x())))


@converter("ReduceSumSquare")
def reduce_sum_square(n: Node) -> Variable:
    return reduced(n, "reduce_sum", n.mul(n.x(), n.x()))


@converter("ReduceLogSum")
def reduce_log_sum(n: Node) -> Variable:
    return n.op("log", reduced(n, "reduce_sum", n.x()))


@converter("ReduceLogSumExp")
def reduce_log_sum_exp(n: Node) -> Variable:
    x, axes, rank = n.x(), n.axes(), len(n.x().shape)
    if not axes and n.attr("noop_with_empty_axes", 0):
        return n.op("assign", x)
    if 0 in x.shape:
        return n.op("log", reduced(n, "reduce_sum", n.op("exp", x)))
    chosen = [n.axis(axis, rank) for axis in axes or range(rank)]
    return n.op("logsumexp", x, axis=chosen, keepdim=bool(n.attr("keepdims")), reduce_all=len(chosen) == rank)


@converter("ArgMax", "ArgMin")
def arg_extreme(n: Node) -> Variable:
    x, rank = n.x(), len(n.x().shape)
    axis, keep = n.axis(n.attr("axis"), rank), bool(n.attr("keepdims"))
    op_type = "arg_max" if n.type == "ArgMax" else "arg_min"
    if not n.attr("select_last_index"):
        return n.op(op_type, x, axis=axis, keepdims=keep, dtype="int64")
    if x.shape[axis] < 0:
        raise Unsupported(f"select_last_index along dimension {axis}, which must be known")
    first = n.op(op_type, n.op("flip", x, axis=[axis]), axis=axis, keepdims=keep, dtype="int64")
    return n.scale(first, -1, x.shape[axis] - 1)


@converter("TopK")
def top_k(n: Node) -> list[Variable]:
    attrs = {"axis": n.attr("axis"), "largest": bool(n.attr("largest")), "sorted": True}
    known = n.array(1)
    if known is not None:
        attrs["k"] = int(known.item())
        return list(n.emit("top_k_v2", {"X": n.x()}, attrs, ["Out", "Indices"]))
    return list(n.emit("top_k_v2", {"X": n.x(), "K": n.cast(n.x(1), "int32")}, attrs, ["Out", "Indices"]))


_SORTED = ("float32", "float64", "int32", "int64")  # the types of the operator unique


@converter("Unique")
def unique(n: Node) -> list[Variable]:
    x, axis = n.x(), n.attr("axis")
    x = n.reshape(x, [-1]) if axis is None else x
    attrs = {
        "axis": [] if axis is None else [n.axis(axis, len(x.shape))],
        "is_sorted": bool(n.attr("sorted")),
        "dtype": "int64",
        "return_index": True,
        "return_inverse": True,
        "return_counts": True,
    }
    wide = {"float16": "float32", "bfloat16": "float32"}.get(x.dtype, x.dtype if x.dtype in _SORTED else "int64")
    made, *places = n.emit("unique", {"X": n.cast(x, wide)}, attrs, ["Out", "Indices", "Index", "Counts"])
    return [n.cast(made, x.dtype), *places]


@converter("CumSum", "CumProd")
def cumulative(n: Node) -> Variable:
    x, axis = n.x(), n.known_ints(1)[0]
    if n.type == "CumSum":
        return n.op("cumsum", x, axis=axis, exclusive=bool(n.attr("exclusive")), reverse=bool(n.attr("reverse")))
    x = n.op("flip", x, axis=[axis]) if n.attr("reverse") else x
    if n.attr("exclusive"):
        first = {"axes": [axis], "starts": [0], "ends": [1]}
        one = n.emit("fill_any_like", {"X": n.emit("slice", {"Input": x}, first)}, {"value": 1.0})
        rest = n.emit("slice", {"Input": x}, {"axes": [axis], "starts": [0], "ends": [-1]})
        x = n.emit("concat", {"X": [one, rest]}, {"axis": n.axis(axis, len(x.shape))})
    made = n.op("cumprod", x, dim=axis)
    return n.op("flip", made, axis=[axis]) if n.attr("reverse") else made
