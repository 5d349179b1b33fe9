# Exporters of slices, and of operators that gather and scatter elements.
from __future__ import annotations

import numpy as np

from ..names import SCATTER_REDUCTIONS
from ..tensors import Unsupported
from .op import OpWriter, exporter
from .shapes import given_ints

_FAR = 2**63 - 1
_PUT = {ours: theirs for theirs, ours in SCATTER_REDUCTIONS.items()} | {"multiply": "mul"}


@exporter("slice", "strided_slice")
def slice_(o: OpWriter) -> None:
    axes = [o.axis(axis, o.rank("Input")) for axis in o.attr("axes")]
    starts = given_ints(o, "starts", "StartsTensor", "StartsTensorList")
    if o.has("EndsTensor") or o.has("EndsTensorList"):
        if o.type == "strided_slice":
            raise Unsupported("ends of steps, which only a run knows")
        ends = given_ints(o, "ends", "EndsTensor", "EndsTensorList")
    else:
        ends = o.ints(_ends(o, axes))
    steps = [given_ints(o, "strides", "StridesTensor", "StridesTensorList")] if o.type == "strided_slice" else []
    made = o.emit("Slice", o.x("Input"), starts, ends, o.ints(axes), *steps)
    removed = sorted({o.axis(axis, o.rank("Input")) for axis in o.attr("decrease_axis")})
    made = o.squeeze(made, removed)
    # Where PaddlePaddle does not remove the last axis, a program may declare one element as [1].
    o.put(o.reshape(made, [1]) if len(removed) == o.rank("Input") and o.out_shape() == [1] else made)


def _ends(o: OpWriter, axes: list[int]) -> list[int]:
    """Attribute `ends` as ONNX has it: in this runtime an end of -1 of a step below 0 is before the first element."""
    ends, removed = list(o.attr("ends")), {o.axis(axis, o.rank("Input")) for axis in o.attr("decrease_axis")}
    steps = o.attr("strides") if o.type == "strided_slice" else [1] * len(axes)
    flags = o.attr("infer_flags") or [0] * len(axes)
    for i, (axis, step) in enumerate(zip(axes, steps)):
        if step > 0:
            # x[-1] of a dimension that was not known has the end 0.
            known = o.type == "slice" and flags[i] != -1
            last = not known and o.attr("starts")[i : i + 1] == [-1] and ends[i] == 0 and axis in removed
            ends[i] = _FAR if last else ends[i]
        elif ends[i] == -1:
            ends[i] = -_FAR
        elif ends[i] < 0:
            if o.shape("Input")[axis] < 0:
                o.static("Input")
            ends[i] = max(ends[i] + o.shape("Input")[axis], 0)
    return ends


@exporter("set_value")
def set_value(o: OpWriter) -> None:
    o.refuse("StartsTensorList", "EndsTensorList", "StepsTensorList")
    shape, dtype = o.static("Input"), o.dtype("Input")
    axes = [o.axis(axis, len(shape)) for axis in o.attr("axes")]
    steps = o.attr("steps") or [1] * len(axes)
    chosen = [np.arange(dim) for dim in shape]
    for axis, start, end, step in zip(axes, o.attr("starts"), o.attr("ends"), steps):
        low, high = start, end
        if step < 0 and end < -shape[axis]:
            high = None
        chosen[axis] = np.arange(shape[axis])[low:high:step]
    places = np.stack(np.meshgrid(*chosen, indexing="ij"), -1)
    sizes = [len(part) for part in chosen]
    kept = [dim for axis, dim in enumerate(sizes) if axis not in {o.axis(a, len(shape)) for a in o.attr("decrease_axes")}]
    if o.attr("none_axes"):
        raise Unsupported("additional axes of the value")
    value = o.cast(o.x("ValueTensor"), dtype) if o.has("ValueTensor") else o.constant(_set_values(o), dtype)
    wide = o.reshape(o.emit("Expand", value, o.ints(kept)), sizes)
    o.put(o.emit("ScatterND", o.x("Input"), o.constant(places, "int64"), wide))


def _set_values(o: OpWriter) -> np.ndarray:
    for name in ("values", "fp32_values", "fp64_values", "int32_values", "int64_values", "bool_values"):
        if o.attr(name):
            return np.asarray(o.attr(name)).reshape(o.attr("shape"))
    raise Unsupported("no value")


@exporter("crop", "crop_tensor")
def crop(o: OpWriter) -> None:
    o.refuse("Offsets", "Shape", "ShapeTensor", *(["OffsetsTensor"] if o.type == "crop_tensor" else []))
    rank = o.rank()
    if not rank:
        o.put(o.emit("Identity", o.x()))
        return
    shape = o.out_shape() if o.type == "crop" else list(o.attr("shape"))
    offsets = list(o.attr("offsets")) or [0] * rank
    if o.type == "crop" and o.has("Y"):
        after = o.add(o.ints(offsets), o.emit("Shape", o.x("Y")))
        o.put(o.emit("Slice", o.x(), o.ints(offsets), after, o.ints(range(rank))))
        return
    ends = [2**63 - 1 if dim < 0 else offset + dim for offset, dim in zip(offsets, shape)]
    o.put(o.slice(o.x(), range(rank), offsets, ends))


@exporter("gather")
def gather(o: OpWriter) -> None:
    o.refuse("Axis")
    index = o.x("Index")
    if len(o.shape("Index")) == 2:
        index = o.reshape(index, [-1])
    made = o.emit("Gather", o.x(), index, axis=o.axis(o.attr("axis"), o.rank()))
    o.put(made)


@exporter("gather_nd")
def gather_nd(o: OpWriter) -> None:
    o.put(o.emit("GatherND", o.x(), o.cast(o.x("Index"), "int64")))


@exporter("index_select")
def index_select(o: OpWriter) -> None:
    index = o.reshape(o.x("Index"), [-1]) if o.rank("Index") == 2 else o.x("Index")
    o.put(o.emit("Gather", o.x(), index, axis=o.axis(o.attr("dim"), o.rank())))


@exporter("index_sample")
def index_sample(o: OpWriter) -> None:
    o.put(o.emit("GatherElements", o.x(), o.x("Index"), axis=1))


@exporter("take_along_axis")
def take_along_axis(o: OpWriter) -> None:
    axis = o.axis(o.attr("Axis"), o.rank("Input"))
    o.put(o.emit("GatherElements", o.x("Input"), o.x("Index"), axis=axis), "Result")


@exporter("put_along_axis")
def put_along_axis(o: OpWriter) -> None:
    axis, how = o.axis(o.attr("Axis"), o.rank("Input")), o.attr("Reduce")
    if how not in _PUT or (how != "assign" and not o.attr("Include_self")):
        raise Unsupported(f"Reduce {how}, or Include_self=False")
    reduction = _PUT[how]
    o.require_opset(16 if reduction in ("add", "mul") else 18 if reduction != "none" else 13, f"ScatterElements with {reduction}")
    attrs = {} if reduction == "none" else {"reduction": reduction}
    o.put(o.emit("ScatterElements", o.x("Input"), o.x("Index"), o.x("Value"), axis=axis, **attrs), "Result")


@exporter("scatter")
def scatter(o: OpWriter) -> None:
    ids = o.cast(o.reshape(o.x("Ids"), [-1, 1]), "int64")
    updates = o.x("Updates") if len(o.shape("Updates")) == o.rank() else o.unsqueeze(o.x("Updates"), [0])
    x = o.x()
    if not o.attr("overwrite"):
        # The sum replaces the rows: they are set to 0 first.
        o.require_opset(16, "sums of ScatterND")
        x = o.emit("ScatterND", x, ids, o.mul(updates, o.like(0)))
        o.put(o.emit("ScatterND", x, ids, updates, reduction="add"))
        return
    o.put(o.emit("ScatterND", x, ids, updates))


@exporter("scatter_nd_add")
def scatter_nd_add(o: OpWriter) -> None:
    o.require_opset(16, "sums of ScatterND")
    o.put(o.emit("ScatterND", o.x(), o.cast(o.x("Index"), "int64"), o.x("Updates"), reduction="add"))


@exporter("index_add")
def index_add(o: OpWriter) -> None:
    o.require_opset(16, "sums of ScatterND")
    rank, shape = o.rank(), o.shape()
    axis = o.axis(o.attr("axis"), rank)
    order = [axis, *(i for i in range(rank) if i != axis)]
    index = o.cast(o.reshape(o.x("Index"), [-1, 1]), "int64")
    if shape[axis] < 0:
        o.static()
    index = o.emit("Where", o.emit("Less", index, o.constant(0, "int64")), o.add(index, o.constant(shape[axis], "int64")), index)
    made = o.emit("ScatterND", o.transpose(o.x(), order), index, o.transpose(o.x("AddValue"), order), reduction="add")
    o.put(o.transpose(made, [int(i) for i in np.argsort(order)]))


@exporter("lookup_table", "lookup_table_v2")
def lookup_table(o: OpWriter) -> None:
    ids = o.x("Ids")
    if o.type == "lookup_table":
        ids = o.squeeze(ids, [o.rank("Ids") - 1])
    made = o.emit("Gather", o.x("W"), ids, axis=0)
    padding = o.attr("padding_idx")
    if padding >= 0:
        kept = o.emit("Not", o.emit("Equal", ids, o.constant(padding, o.dtype("Ids"))))
        rank = o.rank("Ids") - (o.type == "lookup_table")
        wide = o.unsqueeze(kept, range(rank, rank + o.rank("W") - 1))
        made = o.emit("Where", wide, made, o.like(0, "W"))
    o.put(made)


@exporter("masked_select")
def masked_select(o: OpWriter) -> None:
    x, mask = o.x(), o.x("Mask")
    if o.shape() != o.shape("Mask"):
        sizes = o.ints(np.broadcast_shapes(o.static(), o.static("Mask")))
        x, mask = o.emit("Expand", x, sizes), o.emit("Expand", mask, sizes)
    o.put(o.emit("Compress", o.reshape(x, [-1]), o.reshape(mask, [-1])), "Y")


@exporter("where_index")
def where_index(o: OpWriter) -> None:
    if not o.rank("Condition"):
        raise Unsupported("the coordinates of a scalar")
    o.put(o.emit("Transpose", o.emit("NonZero", o.x("Condition")), perm=[1, 0]))


@exporter("shard_index")
def shard_index(o: OpWriter) -> None:
    size = -(-o.attr("index_num") // o.attr("nshards"))
    x, width = o.x(), o.like(size)
    mine = o.emit("Equal", o.div(x, width), o.like(o.attr("shard_id")))
    o.put(o.emit("Where", mine, o.emit("Mod", x, width), o.like(o.attr("ignore_value"))))


@exporter("select_rows")
def select_rows(o: OpWriter) -> None:
    o.put(o.emit("Gather", o.x(), o.cast(o.reshape(o.x("Rows"), [-1]), "int64"), axis=0))
