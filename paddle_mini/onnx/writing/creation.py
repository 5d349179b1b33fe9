# Exporters of operators that create tensors.
from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ..tensors import tensor_proto
from .op import OpWriter, exporter
from .shapes import given_ints


def _number(o: OpWriter, dtype: str) -> Any:
    """Attribute `value`, or its text, as an element of the type."""
    text = o.attr("str_value")
    if not text:
        return np.asarray(o.attr("value")).astype(_held(dtype))
    if dtype in dtypes.INTEGER_NAMES:
        try:
            return np.asarray(int(text)).astype(_held(dtype))
        except ValueError:
            pass
    return np.asarray(float(text)).astype(_held(dtype))


def _held(dtype: str) -> str:
    return "float32" if dtype == "bfloat16" else dtype


def _filled(o: OpWriter, shape: str, value: Any, dtype: str) -> str:
    return o.emit("ConstantOfShape", shape, value=tensor_proto("", np.asarray(value).reshape(1), dtype))


@exporter("fill_constant")
def fill_constant(o: OpWriter) -> None:
    dtype = dtypes.dtype_name(o.attr("dtype"))
    shape = given_ints(o, "shape", "ShapeTensor", "ShapeTensorList")
    if o.has("ValueTensor"):
        o.put(o.emit("Expand", o.cast(o.reshape(o.x("ValueTensor"), []), dtype), shape))
    elif o.attr("shape") or o.has("ShapeTensor") or o.has("ShapeTensorList"):
        o.put(_filled(o, shape, _number(o, dtype), dtype))
    else:
        o.put(o.emit("Identity", o.constant(_number(o, dtype), dtype)))


@exporter("fill_constant_batch_size_like")
def fill_like_batch(o: OpWriter) -> None:
    dtype = dtypes.dtype_name(o.attr("dtype"))
    shape = list(o.attr("shape"))
    to = o.axis(o.attr("output_dim_idx"), len(shape))
    size = o.dim(o.x("Input"), o.axis(o.attr("input_dim_idx"), o.rank("Input")))
    parts = [o.ints(shape[:to])] * bool(to) + [size] + [o.ints(shape[to + 1 :])] * bool(shape[to + 1 :])
    o.put(_filled(o, o.concat(parts, 0), _number(o, dtype), dtype))


@exporter("fill_any_like")
def fill_any_like(o: OpWriter) -> None:
    dtype = o.out_dtype()
    o.put(_filled(o, o.emit("Shape", o.x()), np.asarray(o.attr("value")).astype(_held(dtype)), dtype))


@exporter("assign_value")
def assign_value(o: OpWriter) -> None:
    dtype = dtypes.dtype_name(o.attr("dtype"))
    names = {"float32": "fp32", "float64": "fp64", "int32": "int32", "int64": "int64", "bool": "bool"}
    value = np.asarray(o.attr(f"{names[dtype]}_values")).astype(dtype).reshape(o.attr("shape"))
    o.put(o.emit("Identity", o.constant(value, dtype)))


@exporter("eye")
def eye(o: OpWriter) -> None:
    rows, columns = o.attr("num_rows"), o.attr("num_columns")
    shape = o.ints([rows, rows if columns < 0 else columns])
    dtype = dtypes.dtype_name(o.attr("dtype"))
    o.put(o.emit("EyeLike", _filled(o, shape, 0, dtype)))


@exporter("range")
def arange(o: OpWriter) -> None:
    o.put(o.emit("Range", *(o.reshape(o.x(port), []) for port in ("Start", "End", "Step"))))


@exporter("linspace")
def linspace(o: OpWriter) -> None:
    dtype = dtypes.dtype_name(o.attr("dtype"))
    start, stop = (o.cast(o.cast(o.reshape(o.x(port), []), dtype), "float64") for port in ("Start", "Stop"))
    count = o.cast(o.reshape(o.x("Num"), []), "int64")
    zero, one = o.constant(0, "int64"), o.constant(1, "int64")
    last = o.cast(o.emit("Max", o.sub(count, one), one), "float64")
    step = o.div(o.sub(stop, start), last)
    places = o.emit("Range", zero, count, one)
    # The second half is computed from the end, so that the last number is Stop.
    front = o.add(start, o.mul(step, o.cast(places, "float64")))
    back = o.sub(stop, o.mul(step, o.cast(o.sub(o.sub(count, one), places), "float64")))
    is_front = o.emit("Less", places, o.emit("Max", o.emit("Div", count, o.constant(2, "int64")), one))
    o.put(o.cast(o.emit("Where", is_front, front, back), dtype))


@exporter("tril_triu")
def tril_triu(o: OpWriter) -> None:
    diagonal, lower = o.attr("diagonal"), o.attr("lower")
    x = o.x()
    if o.writer.opset >= 14:
        if o.dtype() == "int32":  # ONNX Runtime does not have it for int32
            x = o.cast(x, "int64")
        made = o.emit("Trilu", x, o.constant(diagonal, "int64"), upper=int(not lower))
        o.put(o.cast(made, "int32") if o.dtype() == "int32" else made)
        return
    rows, columns = o.static()[-2:]
    mask = np.tril(np.ones((rows, columns), bool), diagonal) if lower else np.triu(np.ones((rows, columns), bool), diagonal)
    o.put(o.emit("Where", o.constant(mask, "bool"), x, o.like(0)))


@exporter("diag_v2")
def diag(o: OpWriter) -> None:
    shape, offset = o.static(), o.attr("offset")
    if len(shape) == 2:
        rows, columns = np.nonzero(np.eye(shape[0], shape[1], offset))
        o.put(o.emit("GatherND", o.x(), o.constant(np.stack([rows, columns], 1), "int64")))
        return
    n = shape[0] if shape else 1
    size = n + abs(offset)
    rows, columns = np.nonzero(np.eye(size, size, offset))
    base = o.constant(np.full((size, size), o.attr("padding_value")), o.dtype())
    o.put(o.emit("ScatterND", base, o.constant(np.stack([rows, columns], 1), "int64"), o.reshape(o.x(), [n])))


@exporter("one_hot_v2")
def one_hot(o: OpWriter) -> None:
    o.refuse("depth_tensor")
    dtype, depth = dtypes.dtype_name(o.attr("dtype")), o.attr("depth")
    index = o.cast(o.x(), "int64")
    # ONNX counts negative positions from the end; here they are out of range, as those from depth on.
    index = o.emit("Where", o.emit("Less", index, o.constant(0, "int64")), o.constant(depth, "int64"), index)
    same = o.emit("Equal", o.unsqueeze(index, [o.rank()]), o.ints(range(depth)))
    o.put(o.cast(same, dtype))


@exporter("sequence_mask")
def sequence_mask(o: OpWriter) -> None:
    x = o.x()
    if o.has("MaxLenTensor"):
        longest = o.cast(o.reshape(o.x("MaxLenTensor"), []), "int64")
    elif o.attr("maxlen") >= 0:
        longest = o.constant(o.attr("maxlen"), "int64")
    else:
        longest = o.cast(o.reduce("ReduceMax", x, None, keep=False), "int64")
    places = o.emit("Range", o.constant(0, "int64"), longest, o.constant(1, "int64"))
    inside = o.emit("Less", o.cast(places, o.dtype()), o.unsqueeze(x, [o.rank()]))
    o.put(o.cast(inside, dtypes.dtype_name(o.attr("out_dtype"))), "Y")
