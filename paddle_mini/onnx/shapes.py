# Converters of shapes, of element types and of constants.
from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from .._core import ProgramError
from ..variable import Variable
from .node import Node, converter
from .tensors import Unsupported, element_type, tensor_array


@converter("Constant")
def constant(n: Node) -> Any:
    for name, dtype in (("value_int", "int64"), ("value_ints", "int64"), ("value_float", "float32"), ("value_floats", "float32")):
        value = n.attr(name)
        if value is not None:
            return np.asarray(value, dtype)
    tensor = n.attr("value")
    if tensor is None:
        raise Unsupported("a constant of strings, or a sparse one")
    return tensor_array(tensor)


@converter("ConstantOfShape")
def constant_of_shape(n: Node) -> Variable:
    tensor = n.attr("value")
    value = np.zeros(1, "float32") if tensor is None else tensor_array(tensor)
    shape = n.array(0)
    dtype = value.dtype.name
    attrs: dict[str, Any] = {"dtype": dtype, "value": float(value.item()), "str_value": repr(value.item())}
    if dtype == "bool":
        attrs.pop("str_value")
    if shape is not None:
        return n.emit("fill_constant", {}, {"shape": [int(dim) for dim in shape], **attrs})
    return n.emit("fill_constant", {"ShapeTensor": n.x(0)}, attrs)


@converter("Shape")
def shape(n: Node) -> Any:
    x = n.x()
    rank = len(x.shape)
    start, end, _ = slice(n.attr("start"), n.attr("end")).indices(rank)
    dims = [dim if dim >= 0 else None for dim in x.shape[start : max(start, end)]]
    if None not in dims:
        return np.array(dims, "int64")
    made = n.cast(n.emit("shape", {"Input": x}), "int64")
    n.reader.set_dims(n.outputs[0], dims)
    return n.emit("slice", {"Input": made}, {"axes": [0], "starts": [start], "ends": [max(start, end)]})


@converter("Size")
def size(n: Node) -> Any:
    x = n.x()
    if all(dim >= 0 for dim in x.shape):
        return np.array(int(np.prod(x.shape, dtype=np.int64)), "int64")
    return n.reshape(n.cast(n.emit("size", {"Input": x}), "int64"), [])


@converter("Reshape")
def reshape(n: Node) -> Variable:
    x, dims = n.x(), n.dims(1)
    if dims is not None and dims.count(None) + dims.count(-1) <= 1:
        target = [-1 if dim is None else dim for dim in dims]
        if 0 in target and n.attr("allowzero", 0):
            if -1 in target:
                raise Unsupported("allowzero=1 with a shape that has 0 and -1")
            return n.emit("fill_constant", {}, {"shape": target, "dtype": x.dtype, "value": 0.0})
        if target.count(0) and any(dim == 0 for dim in x.shape):
            target = [x.shape[i] if dim == 0 else dim for i, dim in enumerate(target)]
        if -1 in target and any(dim == 0 for dim in x.shape):
            raise Unsupported("-1 in the shape of an empty tensor")
        if 0 in target and not n.attr("allowzero", 0) and all(dim != 0 for dim in x.shape):
            return n.emit("reshape2", {"X": x}, {"shape": target})
        if 0 in target:
            return n.emit("fill_constant", {}, {"shape": target, "dtype": x.dtype, "value": 0.0})
        return n.reshape(x, target)
    # Exporters compute such shapes of dimensions. A dimension of 0 copies that of x: where allowzero=1 means another one, the
    # elements do not fit, and the run is refused.
    if dims is None and n.attr("allowzero", 0):
        raise Unsupported("allowzero=1 with a shape that only a run knows")
    made = n.emit("reshape2", {"X": x, "Shape": n.x(1)})
    if dims is not None:
        made.set_info({**made.info(), "shape": [-1 if dim in (None, 0) else dim for dim in dims]})
    return made


@converter("Flatten")
def flatten(n: Node) -> Variable:
    x, rank = n.x(), len(n.x().shape)
    axis = n.attr("axis")
    axis = axis + rank if axis < 0 else axis
    sizes = [int(np.prod(part)) if all(dim >= 0 for dim in part) else -1 for part in (x.shape[:axis], x.shape[axis:])]
    if sizes == [-1, -1]:
        ends = n.emit("shape", {"Input": x})
        rows = n.op("reduce_prod", n.emit("slice", {"Input": ends}, {"axes": [0], "starts": [0], "ends": [axis]}), dim=[0])
        both = n.emit("concat", {"X": [n.reshape(n.cast(rows, "int32"), [1]), n.constant([-1], "int32")]}, {"axis": 0})
        return n.emit("reshape2", {"X": x, "Shape": both})
    return n.reshape(x, sizes)


def _keep_dims(n: Node, dims: list[int | None] | None) -> None:
    if dims is not None:
        n.reader.set_dims(n.outputs[0], dims)


@converter("Squeeze")
def squeeze(n: Node) -> Variable:
    x, axes = n.x(), n.axes()
    _keep_dims(n, n.dims(0))
    if axes is None and min(x.shape, default=1) < 0:
        made = n.emit("squeeze2", {"X": x}, {"axes": []})
        # Fewer axes where a run knows that another dimension is 1: it is refused, because a 0 copies a dimension.
        return n.reshape(made, [0] * len(made.shape))
    if axes is None:
        axes = [i for i, dim in enumerate(x.shape) if dim == 1]
    chosen = [n.axis(axis, len(x.shape)) for axis in axes]
    return n.emit("squeeze2", {"X": x}, {"axes": chosen}) if chosen else n.op("assign", x)


@converter("Unsqueeze")
def unsqueeze(n: Node) -> Variable:
    x, axes = n.x(), n.axes() or []
    _keep_dims(n, n.dims(0))
    return n.emit("unsqueeze2", {"X": x}, {"axes": sorted(n.axis(axis, len(x.shape) + len(axes)) for axis in axes)})


@converter("Concat")
def concat(n: Node) -> Variable:
    parts = [n.dims(i) for i in range(len(n.inputs))]
    if len(n.x().shape) == 1 and all(part is not None for part in parts):
        _keep_dims(n, [dim for part in parts for dim in part or []])
    return n.emit("concat", {"X": n.xs()}, {"axis": n.axis(n.attr("axis"), len(n.x().shape))})


@converter("Transpose")
def transpose(n: Node) -> Variable:
    return n.transpose(n.x(), n.attr("perm", list(reversed(range(len(n.x().shape))))))


@converter("Expand")
def expand(n: Node) -> Variable:
    x, dims = n.x(), n.dims(1)
    if dims is None or None in dims or (0 in dims and min(x.shape, default=0) < 0):
        # Dimensions of 1 in the shape leave those of x: the product with ones of the shape has the right shape.
        ones = n.emit("fill_constant", {"ShapeTensor": n.x(1)}, {"dtype": "bool", "value": 1.0})
        common = n.op("logical_or", ones, n.emit("fill_any_like", {"X": x}, {"value": 0.0, "dtype": "bool"}))
        return n.emit("expand_as_v2", {"X": x, "Y": common}, {"target_shape": list(common.shape)})
    # -1 of expand_v2 keeps a dimension of x, as 1 does in ONNX.
    unknown = [dim < 0 for dim in [*[1] * (len(dims) - len(x.shape)), *x.shape]]
    have = [1 if dim < 0 else dim for dim in x.shape]
    joint = np.broadcast_shapes(tuple(have), tuple(int(dim or 0) for dim in dims))
    target = [-1 if is_unknown and dim == 1 else dim for dim, is_unknown in zip(joint, unknown)]
    if 0 in target:
        return n.emit("fill_constant", {}, {"shape": target, "dtype": x.dtype, "value": 0.0})
    return n.emit("expand_v2", {"X": x}, {"shape": target}) if target else n.op("assign", x)


@converter("Tile")
def tile(n: Node) -> Variable:
    known = n.array(1)
    if known is not None:
        return n.emit("tile", {"X": n.x()}, {"repeat_times": [int(count) for count in known]})
    return n.emit("tile", {"X": n.x(), "RepeatTimes": n.x(1)})


@converter("Cast", "CastLike")
def cast(n: Node) -> Variable:
    dtype = element_type(n.attr("to")) if n.type == "Cast" else n.x(1).dtype
    _keep_dims(n, n.dims(0) if dtype in dtypes.INTEGER_NAMES else None)
    return n.cast(n.x(), dtype) if n.x().dtype != dtype else n.op("assign", n.x())


@converter("Range")
def range_(n: Node) -> Variable:
    start, end, step = (n.x(i) for i in range(3))
    dtype = start.dtype
    if dtype in ("float16", "bfloat16", "int16"):
        start, end, step = (n.cast(x, "float32") for x in (start, end, step))
    return n.cast(n.emit("range", {"Start": start, "End": end, "Step": step}), dtype)


@converter("EyeLike")
def eye_like(n: Node) -> Variable:
    x, number = n.x(), n.attr("dtype")
    dtype = x.dtype if number is None else element_type(number)
    rows, columns = x.shape
    if rows >= 0 and columns >= 0:
        return n.constant(np.eye(rows, columns, k=n.attr("k")), dtype)
    ones = n.emit("fill_any_like", {"X": x}, {"value": 1.0, "dtype": "int64"})
    row, column = (n.op("cumsum", ones, axis=axis) for axis in (0, 1))
    return n.cast(n.op("equal", n.scale(row, 1, n.attr("k")), column), dtype)


@converter("Trilu")
def trilu(n: Node) -> Variable:
    x = n.x()
    diagonal = n.known_ints(1)[0] if n.has(1) else 0
    if 0 in x.shape:
        return n.op("assign", x)
    return n.op("tril_triu", x, diagonal=max(-(2**31), min(diagonal, 2**31 - 1)), lower=not n.attr("upper"))


@converter("DepthToSpace", "SpaceToDepth")
def depth_and_space(n: Node) -> Variable:
    x, b = n.x(), n.attr("blocksize")
    channels = n.require_static(x, 1, 2)[0]
    # The operators have the order CRD: a channel's parts are neighbours. In DCR the channels of a part are.
    order = np.arange(channels if n.type == "DepthToSpace" else channels * b * b)
    if order.size % (b * b):
        raise ProgramError(f"{order.size} channels are not divisible by {b * b}")
    if n.type == "DepthToSpace":
        if n.attr("mode") == "DCR":
            x = _reordered(n, x, order.reshape(b * b, -1).T)
        return n.op("pixel_shuffle", x, upscale_factor=b)
    made = n.op("pixel_unshuffle", x, downscale_factor=b)
    return made if n.attr("mode", "DCR") == "CRD" else _reordered(n, made, order.reshape(-1, b * b).T)


def _reordered(n: Node, x: Variable, order: np.ndarray) -> Variable:
    """The channels in another order."""
    return n.emit("index_select", {"X": x, "Index": n.constant(order.ravel(), "int64")}, {"dim": 1})
