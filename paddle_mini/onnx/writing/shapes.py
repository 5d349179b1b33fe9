# Exporters of operators that change shapes or the order of elements.
from __future__ import annotations

import numpy as np

from ..tensors import Unsupported
from .op import OpWriter, exporter


def given_ints(o: OpWriter, attr: str, tensor: str, tensors: str = "") -> str:
    """Integers as a vector of int64: of a tensor, of several tensors with one each, or of the attribute."""
    if o.has(tensor):
        return o.reshape(o.cast(o.x(tensor), "int64"), [-1])
    if tensors and o.has(tensors):
        return o.concat([o.reshape(o.cast(x, "int64"), [1]) for x in o.xs(tensors)], 0)
    return o.ints(o.attr(attr))


@exporter("reshape", "reshape2")
def reshape(o: OpWriter) -> None:
    shape = o.attr("shape")
    if not (o.has("Shape") or o.has("ShapeTensor")) and 0 in o.shape():
        o.put(o.emit("Reshape", o.x(), o.ints(o.out_shape()), allowzero=1 if o.writer.opset >= 14 else None))
        return
    if not (o.has("Shape") or o.has("ShapeTensor")):
        o.put(o.reshape(o.x(), shape))
        return
    o.put(o.emit("Reshape", o.x(), given_ints(o, "shape", "Shape", "ShapeTensor")))


@exporter("squeeze2")
def squeeze(o: OpWriter) -> None:
    shape = o.shape()
    if not shape:
        o.put(o.emit("Identity", o.x()))
        return
    axes = [o.axis(axis, len(shape)) for axis in o.attr("axes")]
    chosen = [axis for axis in axes if shape[axis] in (1, -1)] if axes else [i for i, dim in enumerate(o.static()) if dim == 1]
    if axes and any(shape[axis] == -1 for axis in axes):
        raise Unsupported("a dimension to remove that only a run knows")
    o.put(o.squeeze(o.x(), sorted(set(chosen))) if chosen else o.emit("Identity", o.x()))


@exporter("unsqueeze2")
def unsqueeze(o: OpWriter) -> None:
    o.refuse("AxesTensor", "AxesTensorList")
    rank = o.rank()
    new: list[int] = []
    for axis in o.attr("axes"):  # each one counts in the shape that the ones before it have made
        axis = axis + rank + len(new) + 1 if axis < 0 else axis
        new = [other + (other >= axis) for other in new] + [axis]
    o.put(o.unsqueeze(o.x(), sorted(new)) if new else o.emit("Identity", o.x()))


@exporter("flatten2")
def flatten2(o: OpWriter) -> None:
    o.put(o.emit("Flatten", o.x() if o.rank() else o.reshape(o.x(), [1]), axis=o.axis(o.attr("axis"), max(o.rank(), 1))
                 if o.attr("axis") < 0 else o.attr("axis")))  # fmt: skip


@exporter("flatten_contiguous_range")
def flatten(o: OpWriter) -> None:
    shape = o.shape()
    if not shape:
        o.put(o.reshape(o.x(), [1]))
        return
    start, stop = (o.axis(o.attr(name), len(shape)) for name in ("start_axis", "stop_axis"))
    merged = shape[start : stop + 1]
    size = int(np.prod(merged)) if -1 not in merged else -1
    rest = shape[stop + 1 :]
    if size >= 0 or -1 not in rest:
        target = [0] * start + [size, *rest]
        if target.count(-1) <= 1 and 0 not in shape:
            o.put(o.reshape(o.x(), target))
            return
    sizes = o.emit("Shape", o.x())
    parts = [o.slice(sizes, [0], [0], [start])] if start else []
    parts.append(o.emit("ReduceProd", o.slice(sizes, [0], [start], [stop + 1]), keepdims=1))
    parts += [o.slice(sizes, [0], [stop + 1], [len(shape)])] if rest else []
    allow = 1 if o.writer.opset >= 14 else None
    o.put(o.emit("Reshape", o.x(), o.concat(parts, 0), allowzero=allow))


@exporter("transpose", "transpose2")
def transpose(o: OpWriter) -> None:
    rank = o.rank()
    perm = [o.axis(axis, rank) for axis in o.attr("axis")]
    o.put(o.emit("Transpose", o.x(), perm=perm) if perm else o.emit("Identity", o.x()))


@exporter("concat")
def concat(o: OpWriter) -> None:
    o.refuse("AxisTensor")
    o.put(o.concat(o.xs(), o.attr("axis")))


@exporter("stack")
def stack(o: OpWriter) -> None:
    axis = o.axis(o.attr("axis"), o.rank() + 1)
    o.put(o.concat([o.unsqueeze(x, [axis]) for x in o.xs()], axis), "Y")


@exporter("unstack", "unbind")
def unstack(o: OpWriter) -> None:
    axis = o.axis(o.attr("axis"), o.rank())
    port = "Y" if o.type == "unstack" else "Out"
    for i in range(len(o.op.output(port))):
        o.put(o.emit("Gather", o.x(), o.constant(i, "int64"), axis=axis), port, i)


@exporter("split")
def split(o: OpWriter) -> None:
    o.refuse("AxisTensor", "SectionsTensorList")
    shape, count = o.shape(), len(o.op.output("Out"))
    axis = o.axis(o.attr("axis"), len(shape))
    sections = list(o.attr("sections"))
    if o.attr("num") or -1 in sections:
        if shape[axis] < 0:
            o.static()
        known = sum(size for size in sections if size >= 0)
        equal = [shape[axis] // count] * count
        sections = equal if o.attr("num") else [size if size >= 0 else shape[axis] - known for size in sections]
    parts = o.emit_many("Split", count, o.x(), o.ints(sections), axis=axis)
    for i, part in enumerate(parts):
        o.put(part, "Out", i)


@exporter("shape")
def shape(o: OpWriter) -> None:
    made = o.emit("Shape", o.x("Input"))
    o.put(made if o.out_dtype() == "int64" else o.cast(made, o.out_dtype()))


@exporter("size")
def size(o: OpWriter) -> None:
    made = o.emit("Size", o.x("Input"))
    made = made if o.out_dtype() == "int64" else o.cast(made, o.out_dtype())
    o.put(o.reshape(made, o.out_shape()) if o.out_shape() else made)


@exporter("is_empty")
def is_empty(o: OpWriter) -> None:
    made = o.emit("Equal", o.emit("Size", o.x()), o.constant(0, "int64"))
    o.put(o.reshape(made, o.out_shape()) if o.out_shape() else made)


@exporter("expand_v2")
def expand(o: OpWriter) -> None:
    if o.has("Shape") or o.has("expand_shapes_tensor"):
        o.put(o.emit("Expand", o.x(), given_ints(o, "shape", "Shape", "expand_shapes_tensor")))
        return
    # -1 keeps a dimension, as ONNX's 1 does.
    o.put(o.emit("Expand", o.x(), o.ints([1 if dim == -1 else dim for dim in o.attr("shape")])))


@exporter("expand_as_v2")
def expand_as(o: OpWriter) -> None:
    o.put(o.emit("Expand", o.x(), o.emit("Shape", o.x("Y")) if o.has("Y") else o.ints(o.attr("target_shape"))))


@exporter("expand")
def expand_times(o: OpWriter) -> None:
    o.put(o.emit("Tile", o.x(), given_ints(o, "expand_times", "ExpandTimes", "expand_times_tensor")))


@exporter("tile")
def tile(o: OpWriter) -> None:
    o.refuse("RepeatTimes", "repeat_times_tensor")
    times, rank = list(o.attr("repeat_times")), o.rank()
    times = [1] * (rank - len(times)) + times
    x = o.unsqueeze(o.x(), range(len(times) - rank)) if len(times) > rank else o.x()
    o.put(o.emit("Tile", x, o.ints(times)) if times else o.emit("Identity", x))


@exporter("flip", "reverse")
def flip(o: OpWriter) -> None:
    axes = [o.axis(axis, o.rank()) for axis in o.attr("axis")]
    o.put(reversed_along(o, o.x(), axes))


def reversed_along(o: OpWriter, x: str, axes: list[int]) -> str:
    if not axes:
        return o.emit("Identity", x)
    far = 2**63 - 1
    return o.slice(x, axes, [-1] * len(axes), [-far] * len(axes), [-1] * len(axes))


@exporter("roll")
def roll(o: OpWriter) -> None:
    o.refuse("ShiftsTensor")
    shifts, axes, x = o.attr("shifts"), [o.axis(axis, o.rank()) for axis in o.attr("axis")], o.x()
    if not axes:
        x = o.reshape(x, [-1])
    for shift, axis in zip(shifts, axes or [0]):
        dim = o.shape()[axis] if axes else int(np.prod(o.static()))
        if dim < 0:
            o.static()
        if dim and shift % dim:
            cut, far = dim - shift % dim, 2**63 - 1
            x = o.concat([o.slice(x, [axis], [cut], [far]), o.slice(x, [axis], [0], [cut])], axis)
    if not axes:
        x = o.reshape(x, o.static())
    o.put(o.emit("Identity", x) if x == o.x() else x)


@exporter("pixel_shuffle", "pixel_unshuffle", "channel_shuffle")
def shuffle(o: OpWriter) -> None:
    last = o.attr("data_format") == "NHWC"
    shape = o.shape()
    shape = [shape[i] for i in (0, 3, 1, 2)] if last else shape
    x = o.transpose(o.x(), [0, 3, 1, 2]) if last else o.x()
    if o.type == "pixel_shuffle":
        x = o.emit("DepthToSpace", x, blocksize=o.attr("upscale_factor"), mode="CRD")
    elif o.type == "channel_shuffle":
        groups, c = o.attr("groups"), shape[1]
        if -1 in shape[1:]:
            o.static()
        parts = o.transpose(o.reshape(x, [0, groups, c // groups, *shape[2:]]), [0, 2, 1, 3, 4])
        x = o.reshape(parts, [0, *shape[1:]])
    else:
        r, (c, h, w) = o.attr("downscale_factor"), shape[1:]
        if -1 in shape[1:]:
            o.static()
        parts = o.transpose(o.reshape(x, [0, c, h // r, r, w // r, r]), [0, 1, 3, 5, 2, 4])
        x = o.reshape(parts, [0, c * r * r, h // r, w // r])
    o.put(o.transpose(x, [0, 2, 3, 1]) if last else x)


@exporter("meshgrid")
def meshgrid(o: OpWriter) -> None:
    xs, count = o.xs(), len(o.op.input("X"))
    sizes = o.concat([o.emit("Shape", o.reshape(x, [-1])) for x in xs], 0)
    for i, x in enumerate(xs):
        wide = o.reshape(x, [-1 if axis == i else 1 for axis in range(count)])
        o.put(o.emit("Expand", wide, sizes), "Out", i)
