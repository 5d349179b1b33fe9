# Exporters of convolutions, normalization and dropout.
from __future__ import annotations

import numpy as np

from ..tensors import Unsupported
from .op import OpWriter, exporter

CHANNELS_LAST = ("NHWC", "NDHWC")


def channels_first(o: OpWriter, x: str, rank: int, last: bool) -> str:
    return o.transpose(x, [0, rank - 1, *range(1, rank - 1)]) if last else x


def channels_back(o: OpWriter, x: str, rank: int, last: bool) -> str:
    return o.transpose(x, [0, *range(2, rank), 1]) if last else x


def sizes_of(shape: list[int], last: bool) -> list[int]:
    return shape[1:-1] if last else shape[2:]


def pads_of(o: OpWriter, sizes: list[int], kernel: list[int], dilations: list[int]) -> list[int]:
    """Paddings as ONNX has them: those before all axes, then those after them."""
    rank, strides, how = len(kernel), o.attr("strides"), o.attr("padding_algorithm")
    if how == "VALID":
        return [0] * 2 * rank
    if how == "SAME":
        if any(size < 0 for size in sizes):
            raise Unsupported("padding_algorithm SAME of an image whose size must be known")
        totals = [
            max((-(-size // step) - 1) * step + dilation * (width - 1) + 1 - size, 0)
            for size, step, dilation, width in zip(sizes, strides, dilations, kernel)
        ]
        return [total // 2 for total in totals] + [total - total // 2 for total in totals]
    given = list(o.attr("paddings"))
    return given * 2 if len(given) == rank else given[0::2] + given[1::2]


@exporter("conv2d", "depthwise_conv2d", "conv3d")
def conv(o: OpWriter) -> None:
    last, rank = o.attr("data_format") in CHANNELS_LAST, o.rank("Input")
    kernel = o.static("Filter")[2:]
    same = o.attr("padding_algorithm") == "SAME"
    dilations = [1] * len(kernel) if same else list(o.attr("dilations"))
    attrs = {
        "kernel_shape": kernel,
        "strides": list(o.attr("strides")),
        "dilations": dilations,
        "group": o.attr("groups"),
        "pads": pads_of(o, sizes_of(o.shape("Input"), last), kernel, dilations),
    }
    made = o.emit("Conv", channels_first(o, o.x("Input"), rank, last), o.x("Filter"), **attrs)
    o.put(channels_back(o, made, rank, last), "Output")


@exporter("conv2d_transpose", "depthwise_conv2d_transpose")
def conv_transpose(o: OpWriter) -> None:
    last, rank = o.attr("data_format") in CHANNELS_LAST, o.rank("Input")
    kernel, sizes = o.static("Filter")[2:], sizes_of(o.shape("Input"), last)
    strides, dilations = list(o.attr("strides")), list(o.attr("dilations"))
    if o.attr("padding_algorithm") == "SAME":
        dilations = [1] * len(kernel)
    pads = pads_of(o, sizes, kernel, dilations)
    extra = list(o.attr("output_padding")) or [0] * len(kernel)
    if o.attr("output_size"):
        if any(size < 0 for size in sizes):
            raise Unsupported("output_size of an image whose size must be known")
        plain = [
            (size - 1) * step + dilation * (width - 1) + 1 - pads[i] - pads[i + len(kernel)]
            for i, (size, step, dilation, width) in enumerate(zip(sizes, strides, dilations, kernel))
        ]
        wanted = sizes_of(o.out_shape("Output"), last)
        extra = [size - have for size, have in zip(wanted, plain)]
    attrs = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "group": o.attr("groups"), "pads": pads}
    attrs["output_padding"] = extra if any(extra) else None
    made = o.emit("ConvTranspose", channels_first(o, o.x("Input"), rank, last), o.x("Filter"), **attrs)
    o.put(channels_back(o, made, rank, last), "Output")


@exporter("batch_norm")
def batch_norm(o: OpWriter) -> None:
    if not (o.attr("use_global_stats") or (o.attr("is_test") and not o.attr("trainable_statistics"))):
        raise Unsupported("the statistics of a batch: is_test must be true")
    rank, last = o.rank(), o.attr("data_layout") in CHANNELS_LAST
    mean, variance = o.x("Mean"), o.x("Variance")
    scale = o.x("Scale") if o.has("Scale") else _full(o, 1.0)
    bias = o.x("Bias") if o.has("Bias") else _full(o, 0.0)
    x = channels_first(o, o.x(), rank, last) if rank > 2 else o.x()
    made = o.emit("BatchNormalization", x, scale, bias, mean, variance, epsilon=o.attr("epsilon"))
    o.put(channels_back(o, made, rank, last) if rank > 2 else made, "Y")
    if mean != o.writer.values.get(o.op.output("MeanOut")[0], mean):
        raise Unsupported("its statistics are not in place")
    for port, value in (("MeanOut", mean), ("VarianceOut", variance)):
        o.put(value, port)


def _full(o: OpWriter, value: float) -> str:
    return o.constant(np.full(o.static("Mean"), value), o.dtype("Mean"))


def _affine(o: OpWriter, x: str, shape: list[int]) -> str:
    """x times Scale plus Bias, which are given this shape."""
    if o.has("Scale"):
        x = o.mul(x, o.reshape(o.x("Scale"), shape))
    return o.add(x, o.reshape(o.x("Bias"), shape)) if o.has("Bias") else x


def _statistics(o: OpWriter, x: str, axes: list[int]) -> tuple[str, str, str]:
    """x without its mean, the mean, and the variance, over axes."""
    mean = o.reduce("ReduceMean", x, axes, keep=True)
    centered = o.sub(x, mean)
    return centered, mean, o.reduce("ReduceMean", o.mul(centered, centered), axes, keep=True)


def _normalized(o: OpWriter, centered: str, variance: str) -> str:
    return o.div(centered, o.emit("Sqrt", o.add(variance, o.like(o.attr("epsilon")))))


@exporter("layer_norm")
def layer_norm(o: OpWriter) -> None:
    rank, begin, x = o.rank(), o.attr("begin_norm_axis"), o.x()
    last = o.shape()[begin:]
    statistics = any(o.wants(port) and _read_later(o, port) for port in ("Mean", "Variance"))
    known = -1 not in last
    if o.writer.opset >= 17 and not statistics and o.has("Scale") and known:
        given = [o.x(port) for port in ("Scale", "Bias") if o.has(port)]
        given = given if len(last) == 1 else [o.reshape(value, last) for value in given]
        o.put(o.emit("LayerNormalization", x, *given, axis=begin, epsilon=o.attr("epsilon")), "Y")
        return
    centered, mean, variance = _statistics(o, x, list(range(begin, rank)))
    made = _normalized(o, centered, variance)
    if o.has("Scale") or o.has("Bias"):
        if not known:
            o.static()
        made = _affine(o, made, last)
    o.put(made, "Y")
    for port, value in (("Mean", mean), ("Variance", variance)):
        if statistics and o.wants(port):
            axes = list(range(begin, rank))
            o.put(o.squeeze(value, axes) if len(o.out_shape(port)) == begin else o.reshape(value, [-1]), port)


def _read_later(o: OpWriter, port: str) -> bool:
    """Whether another operator or a fetch may read an output."""
    name = o.op.output(port)[0]
    return name in o.writer.fetched or any(name in op.input_names for block in o.writer.program.blocks for op in block.ops)


@exporter("group_norm")
def group_norm(o: OpWriter) -> None:
    rank, groups, last = o.rank(), o.attr("groups"), o.attr("data_layout") in CHANNELS_LAST
    shape = o.shape()
    shape = [shape[0], shape[-1], *shape[1:-1]] if last else shape
    if -1 in shape[1:]:
        o.static()
    x = channels_first(o, o.x(), rank, last)
    parts = o.reshape(x, [0, groups, int(np.prod(shape[1:])) // groups])
    centered, mean, variance = _statistics(o, parts, [2])
    made = o.reshape(_normalized(o, centered, variance), [0, *shape[1:]])
    made = _affine(o, made, [-1] + [1] * (rank - 2))
    o.put(channels_back(o, made, rank, last), "Y")
    for port, value in (("Mean", mean), ("Variance", variance)):
        o.put(o.squeeze(value, [2]), port)


@exporter("instance_norm")
def instance_norm(o: OpWriter) -> None:
    rank = o.rank()
    centered, mean, variance = _statistics(o, o.x(), list(range(2, rank)))
    made = _normalized(o, centered, variance)
    o.put(_affine(o, made, [-1] + [1] * (rank - 2)), "Y")
    if any(o.wants(port) and _read_later(o, port) for port in ("SavedMean", "SavedVariance")):
        root = o.emit("Reciprocal", o.emit("Sqrt", o.add(variance, o.like(o.attr("epsilon")))))
        o.put(o.reshape(mean, [-1]), "SavedMean")
        o.put(o.reshape(root, [-1]), "SavedVariance")


@exporter("lrn")
def lrn(o: OpWriter) -> None:
    n, rank, last = o.attr("n"), o.rank(), o.attr("data_format") in CHANNELS_LAST
    x = channels_first(o, o.x(), rank, last)
    if o.wants("MidOut") and _read_later(o, "MidOut"):
        raise Unsupported("output MidOut")
    if n % 2 == 0:
        raise Unsupported(f"n {n}: it must be odd")
    made = o.emit("LRN", x, size=n, alpha=o.attr("alpha") * n, beta=o.attr("beta"), bias=o.attr("k"))
    o.put(channels_back(o, made, rank, last))


@exporter("affine_channel")
def affine_channel(o: OpWriter) -> None:
    rank = o.rank()
    axis = 1 if o.attr("data_layout") == "NCHW" else rank - 1
    o.put(_affine(o, o.x(), [-1 if i == axis else 1 for i in range(rank)]))


@exporter("dropout")
def dropout(o: OpWriter) -> None:
    if not o.attr("is_test"):
        raise Unsupported("random numbers of another generator: is_test must be true")
    kept = 1.0 if o.attr("dropout_implementation") == "upscale_in_train" else 1 - o.attr("dropout_prob")
    o.put(o.emit("Identity", o.x()) if kept == 1 else o.mul(o.x(), o.like(kept)))
    if o.wants("Mask") and _read_later(o, "Mask"):
        o.put(o.cast(o.emit("Equal", o.x(), o.x()), "uint8"), "Mask")


@exporter("temporal_shift")
def temporal_shift(o: OpWriter) -> None:
    last = o.attr("data_format") == "NHWC"
    shape = o.shape()
    frames = o.attr("seg_num")
    shape = [shape[0], shape[3], shape[1], shape[2]] if last else shape
    if -1 in shape[1:]:
        o.static()
    c = shape[1]
    x = o.reshape(channels_first(o, o.x(), 4, last), [-1, frames, *shape[1:]])
    first, second = int(c * o.attr("shift_ratio")), int(c * 2 * o.attr("shift_ratio"))
    zeros = o.mul(o.slice(x, [1], [0], [1]), o.like(0.0))
    parts = []
    before = o.concat([zeros, o.slice(x, [1], [0], [frames - 1])], 1) if frames > 1 else zeros
    after = o.concat([o.slice(x, [1], [1], [frames]), zeros], 1) if frames > 1 else zeros
    for source, low, high in ((before, 0, first), (after, first, second), (x, second, c)):
        if low < high:
            parts.append(o.slice(source, [2], [low], [high]))
    o.put(channels_back(o, o.reshape(o.concat(parts, 2), [-1, *shape[1:]]), 4, last))
