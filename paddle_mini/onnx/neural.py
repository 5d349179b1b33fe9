# Converters of convolutions and normalization.
from __future__ import annotations

from typing import Any

import numpy as np

from ..variable import Variable
from .node import Node, converter
from .tensors import Unsupported


def window(n: Node, x: Variable, kernel: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Strides, dilations and paddings [low, high] for each axis of the window, with those of auto_pad."""
    rank = len(kernel)
    strides, dilations = list(n.attr("strides", [1] * rank)), list(n.attr("dilations", [1] * rank))
    auto = n.attr("auto_pad")
    if auto in ("NOTSET", "VALID"):
        given = list(n.attr("pads", [0] * 2 * rank)) if auto == "NOTSET" else [0] * 2 * rank
        return strides, dilations, [given[i + side * rank] for i in range(rank) for side in (0, 1)]
    pads = []
    # With a stride of 1 the padding does not depend on the size of the image.
    sizes = n.require_static(x, 2) if any(step != 1 for step in strides) else kernel
    for size, step, dilation, width in zip(sizes, strides, dilations, kernel):
        total = max((-(-size // step) - 1) * step + dilation * (width - 1) + 1 - size, 0)
        small = total // 2
        pads += [small, total - small] if auto == "SAME_UPPER" else [total - small, small]
    return strides, dilations, pads


def as_2d(n: Node, x: Variable) -> Variable:
    """[N, C, L] as [N, C, 1, L]."""
    return n.emit("unsqueeze2", {"X": x}, {"axes": [2]})


def as_1d(n: Node, x: Variable) -> Variable:
    return n.emit("squeeze2", {"X": x}, {"axes": [2]})


def _add_bias(n: Node, x: Variable, rank: int) -> Variable:
    if not n.has(2):
        return x
    return n.add(x, n.emit("unsqueeze2", {"X": n.x(2)}, {"axes": list(range(1, rank + 1))}))


@converter("Conv")
def conv(n: Node) -> Variable:
    w = n.x(1)
    return _add_bias(n, convolved(n, n.x(0), w), len(w.shape) - 2)


def convolved(n: Node, x: Variable, w: Variable) -> Variable:
    """The convolution of the node, without its bias."""
    kernel = n.require_static(w)[2:]
    strides, dilations, pads = window(n, x, kernel)
    rank = len(kernel)
    if rank not in (1, 2, 3):
        raise Unsupported(f"convolutions of {rank} axes")
    if rank == 1:
        x, w, strides, dilations, pads = as_2d(n, x), as_2d(n, w), [1, *strides], [1, *dilations], [0, 0, *pads]
    attrs = {"strides": strides, "dilations": dilations, "paddings": pads, "groups": n.attr("group")}
    made = n.emit("conv3d" if rank == 3 else "conv2d", {"Input": x, "Filter": w}, attrs, "Output")
    return as_1d(n, made) if rank == 1 else made


@converter("ConvTranspose")
def conv_transpose(n: Node) -> Variable:
    x, w = n.x(0), n.x(1)
    kernel, rank = n.require_static(w)[2:], len(w.shape) - 2
    if rank not in (1, 2, 3):
        raise Unsupported(f"transposed convolutions of {rank} axes")
    strides, dilations = list(n.attr("strides", [1] * rank)), list(n.attr("dilations", [1] * rank))
    extra, wanted, auto = list(n.attr("output_padding", [0] * rank)), n.attr("output_shape"), n.attr("auto_pad")
    pads = list(n.attr("pads", [0] * 2 * rank))
    if wanted is not None or auto in ("SAME_UPPER", "SAME_LOWER"):
        sizes = n.require_static(x, 2)
        wanted = list(wanted or [size * step for size, step in zip(sizes, strides)])[-rank:]
        pads = [0] * 2 * rank
        for i in range(rank):
            total = strides[i] * (sizes[i] - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1 - wanted[i]
            total, extra[i] = max(total, 0), extra[i] + max(-total, 0)
            low = total // 2 if auto == "SAME_UPPER" else total - total // 2
            pads[i], pads[i + rank] = low, total - low
    if rank == 1:
        x, w, strides, dilations, extra = as_2d(n, x), as_2d(n, w), [1, *strides], [1, *dilations], [0, *extra]
        pads = [0, pads[0], 0, pads[1]]
    # The operator pads zeros only up to its stride: all of the result is computed, then grown and cut.
    count = len(strides)
    attrs = {"strides": strides, "dilations": dilations, "paddings": [0] * count, "groups": n.attr("group")}
    op_type = "conv3d_transpose" if rank == 3 else "conv2d_transpose"
    made = n.emit(op_type, {"Input": x, "Filter": w}, attrs, "Output")
    if any(extra):
        after = [amount for size in extra for amount in (0, size)]
        made = n.op("pad", made, paddings=[0, 0, 0, 0, *after], pad_value=0.0)
    if any(pads):
        ends = [-high if high else 2**31 - 1 for high in pads[count:]]
        made = n.emit("slice", {"Input": made}, {"axes": list(range(2, 2 + count)), "starts": pads[:count], "ends": ends})
    return _add_bias(n, as_1d(n, made) if rank == 1 else made, rank)


@converter("Col2Im")
def col2im(n: Node) -> Variable:
    sizes, kernel = n.known_ints(1), n.known_ints(2)
    if len(sizes) != 2:
        raise Unsupported(f"images of {len(sizes)} axes")
    attrs = {"output_sizes": sizes, "kernel_sizes": kernel, "paddings": list(n.attr("pads", [0] * 4))}
    attrs |= {name: list(n.attr(name, [1, 1])) for name in ("strides", "dilations")}
    return n.emit("fold", {"X": n.x()}, attrs, "Y")


@converter("DeformConv")
def deform_conv(n: Node) -> Variable:
    w = n.x(1)
    strides, dilations, pads = list(n.attr("strides", [1, 1])), list(n.attr("dilations", [1, 1])), list(n.attr("pads", [0] * 4))
    if len(w.shape) != 4 or pads[:2] != pads[2:]:
        raise Unsupported("other than two axes with equal pads at both ends")
    attrs = {"strides": strides, "dilations": dilations, "paddings": pads[:2], "groups": n.attr("group")}
    attrs["deformable_groups"] = n.attr("offset_group")
    inputs = {"Input": n.x(0), "Offset": n.x(2), "Filter": w, **({"Mask": n.x(4)} if n.has(4) else {})}
    made = n.emit("deformable_conv" if n.has(4) else "deformable_conv_v1", inputs, attrs, "Output")
    return n.add(made, n.reshape(n.x(3), [1, -1, 1, 1])) if n.has(3) else made


@converter("BatchNormalization")
def batch_norm(n: Node) -> Variable:
    if n.attr("training_mode", 0) or any(map(n.wants, range(1, len(n.outputs)))):
        raise Unsupported("training_mode: export the model for inference")
    for index in (3, 4):
        n.reader.freeze(n.inputs[index])
    ports = dict(zip(("X", "Scale", "Bias", "Mean", "Variance"), map(n.x, range(5))))
    attrs = {"epsilon": n.attr("epsilon"), "momentum": n.attr("momentum"), "is_test": True, "use_global_stats": True}
    outputs = {"Y": n.reader.new_name(n.outputs[0]), "MeanOut": ports["Mean"].name, "VarianceOut": ports["Variance"].name}
    saved = {port: n.reader.new_name(n.outputs[0]) for port in ("SavedMean", "SavedVariance")}
    n.reader.block.append_op("batch_norm", ports, {**outputs, **saved}, attrs)
    return n.reader.block.var(outputs["Y"])


@converter("InstanceNormalization")
def instance_norm(n: Node) -> Variable:
    x = n.x()
    axes = list(range(2, len(x.shape)))
    made = _normalized(n, x, axes, n.attr("epsilon"))
    scale, bias = (n.emit("unsqueeze2", {"X": n.x(i)}, {"axes": list(range(1, len(axes) + 1))}) for i in (1, 2))
    return n.add(n.mul(made, scale), bias)


def _normalized(n: Node, x: Variable, axes: list[int], epsilon: float) -> Variable:
    centered = n.sub(x, n.op("reduce_mean", x, dim=axes, keep_dim=True))
    variance = n.op("reduce_mean", n.op("square", centered), dim=axes, keep_dim=True)
    return n.mul(centered, n.op("rsqrt", n.scale(variance, 1, epsilon)))


@converter("LayerNormalization")
def layer_norm(n: Node) -> list[Variable]:
    x = n.x()
    rank = len(x.shape)
    axis = n.axis(n.attr("axis"), rank)
    if any(map(n.wants, (1, 2))) or len(n.x(1).shape) != rank - axis or any(dim < 0 for dim in x.shape[axis:]) or axis == 0:
        return _layer_norm_of_parts(n, x, list(range(axis, rank)))
    size = int(np.prod(x.shape[axis:]))
    ports = {"X": x, "Scale": n.reshape(n.x(1), [size])}
    if n.has(2):
        ports["Bias"] = n.reshape(n.x(2), [size])
    return [n.emit("layer_norm", ports, {"epsilon": n.attr("epsilon"), "begin_norm_axis": axis}, ["Y", "Mean", "Variance"])[0]]


def _layer_norm_of_parts(n: Node, x: Variable, axes: list[int]) -> list[Variable]:
    mean = n.op("reduce_mean", x, dim=axes, keep_dim=True)
    centered = n.sub(x, mean)
    variance = n.op("reduce_mean", n.op("square", centered), dim=axes, keep_dim=True)
    inverse = n.op("rsqrt", n.scale(variance, 1, n.attr("epsilon")))
    made = n.mul(n.mul(centered, inverse), n.x(1))
    return [n.add(made, n.x(2)) if n.has(2) else made, mean, inverse]


@converter("LRN")
def lrn(n: Node) -> Variable:
    size = n.attr("size")
    if size % 2 == 0:
        raise Unsupported(f"size {size}: it must be odd")
    attrs = {"n": size, "k": n.attr("bias"), "alpha": n.attr("alpha") / size, "beta": n.attr("beta")}
    return n.emit("lrn", {"X": n.x()}, attrs, ["Out", "MidOut"])[0]


@converter("LpNormalization")
def lp_norm(n: Node) -> Variable:
    x, axes = n.x(), [n.axis(n.attr("axis"), len(n.x().shape))]
    if n.attr("p") == 1:
        size = n.op("reduce_sum", n.op("abs", x), dim=axes, keep_dim=True)
    else:
        size = n.op("sqrt", n.op("reduce_sum", n.op("square", x), dim=axes, keep_dim=True))
    # Where the norm is 0 all elements are 0, and so is the result.
    zero = n.cast(n.op("equal", size, n.constant(0, x.dtype)), x.dtype)
    return n.op("elementwise_div", x, n.add(size, zero))


@converter("Dropout")
def dropout(n: Node) -> list[Any]:
    if n.has(2) and n.known(2).item() and (not n.has(1) or n.known(1).item()):
        raise Unsupported("training_mode: export the model for inference")
    x = n.x()
    mask = n.emit("fill_any_like", {"X": x}, {"value": 1.0, "dtype": "bool"}) if n.wants(1) else None
    return [n.op("assign", x), mask]
