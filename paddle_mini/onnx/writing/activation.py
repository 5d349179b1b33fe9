# Exporters of activations.
from __future__ import annotations

from ..names import WITH_ATTRIBUTES
from .arithmetic import log1p
from .op import OpWriter, exporter

_WITH_ATTRIBUTES = {ours: (theirs, names) for theirs, (ours, names) in WITH_ATTRIBUTES.items()}


@exporter(*_WITH_ATTRIBUTES)
def with_attributes(o: OpWriter) -> None:
    op_type, names = _WITH_ATTRIBUTES[o.type]
    if op_type in ("Softmax", "LogSoftmax") and not o.rank():
        o.put(o.reshape(o.emit(op_type, o.reshape(o.x(), [1]), axis=0), []))
        return
    o.put(o.emit(op_type, o.x(), **{theirs: o.attr(ours) for theirs, ours in names.items()}))


@exporter("relu6")
def relu6(o: OpWriter) -> None:
    o.put(o.emit("Min", o.emit("Relu", o.x()), o.like(o.attr("threshold"))))


@exporter("brelu")
def brelu(o: OpWriter) -> None:
    o.put(o.emit("Min", o.emit("Max", o.x(), o.like(o.attr("t_min"))), o.like(o.attr("t_max"))))


@exporter("hard_swish")
def hard_swish(o: OpWriter) -> None:
    threshold, scale, offset = (o.attr(name) for name in ("threshold", "scale", "offset"))
    if (threshold, scale, offset) == (6.0, 6.0, 3.0) and o.writer.opset >= 14:
        o.put(o.emit("HardSwish", o.x()))
        return
    gate = o.emit("Min", o.emit("Relu", o.add(o.x(), o.like(offset))), o.like(threshold))
    o.put(o.div(o.mul(o.x(), gate), o.like(scale)))


@exporter("gelu")
def gelu(o: OpWriter) -> None:
    x = o.x()
    if o.writer.opset >= 20:
        o.put(o.emit("Gelu", x, approximate="tanh" if o.attr("approximate") else "none"))
        return
    if o.attr("approximate"):
        cubic = o.add(x, o.mul(o.like(0.044715), o.mul(o.mul(x, x), x)))
        inner = o.emit("Tanh", o.mul(o.like(0.7978845608028654), cubic))
    else:
        inner = o.emit("Erf", o.mul(x, o.like(0.7071067811865476)))
    o.put(o.mul(o.mul(x, o.like(0.5)), o.add(inner, o.like(1.0))))


def softplus(o: OpWriter, x: str) -> str:
    """log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    return o.add(o.emit("Relu", x), log1p(o, o.emit("Exp", o.emit("Neg", o.emit("Abs", x))), o.dtype_of_floats()))


@exporter("softplus")
def softplus_with_threshold(o: OpWriter) -> None:
    beta = o.like(o.attr("beta"))
    scaled = o.mul(o.x(), beta)
    soft = o.div(softplus(o, scaled), beta)
    o.put(o.emit("Where", o.emit("Greater", scaled, o.like(o.attr("threshold"))), o.x(), soft))


@exporter("mish")
def mish(o: OpWriter) -> None:
    x = o.x()
    soft = o.emit("Where", o.emit("Greater", x, o.like(o.attr("threshold"))), x, softplus(o, x))
    o.put(o.mul(x, o.emit("Tanh", soft)))


@exporter("logsigmoid")
def log_sigmoid(o: OpWriter) -> None:
    o.put(o.emit("Neg", softplus(o, o.emit("Neg", o.x()))))


@exporter("silu", "swish")
def swish(o: OpWriter) -> None:
    beta = o.attr("beta") if o.type == "swish" else 1.0
    inner = o.x() if beta == 1 else o.mul(o.x(), o.like(beta))
    o.put(o.mul(o.x(), o.emit("Sigmoid", inner)))


@exporter("stanh")
def stanh(o: OpWriter) -> None:
    o.put(o.mul(o.emit("Tanh", o.mul(o.x(), o.like(o.attr("scale_a")))), o.like(o.attr("scale_b"))))


@exporter("tanh_shrink")
def tanh_shrink(o: OpWriter) -> None:
    o.put(o.sub(o.x(), o.emit("Tanh", o.x())))


@exporter("hard_shrink", "softshrink")
def shrink(o: OpWriter) -> None:
    limit = o.attr("threshold") if o.type == "hard_shrink" else o.attr("lambda")
    o.put(o.emit("Shrink", o.x(), lambd=limit, bias=0.0 if o.type == "hard_shrink" else limit))


@exporter("selu")
def selu(o: OpWriter) -> None:
    o.put(o.emit("Selu", o.x(), alpha=o.attr("alpha"), gamma=o.attr("scale")))


@exporter("prelu")
def prelu(o: OpWriter) -> None:
    shape, slope = o.shape(), o.x("Alpha")
    channels = len(shape) - 1 if o.attr("data_format") == "NHWC" else 1
    if o.attr("mode") == "all":
        slope = o.reshape(slope, [1] * len(shape))
    elif o.attr("mode") == "channel":
        slope = o.reshape(slope, [-1 if axis == channels else 1 for axis in range(len(shape))])
    else:
        slope = o.reshape(slope, [1, *o.static()[1:]] if -1 not in shape[1:] else [1, *o.static("Alpha")[1:]])
    o.put(o.emit("PRelu", o.x(), slope))


@exporter("maxout")
def maxout(o: OpWriter) -> None:
    shape, groups = o.shape(), o.attr("groups")
    axis = o.axis(o.attr("axis"), len(shape))
    if shape[axis] < 0:
        o.static()
    split = o.reshape(o.x(), [*([0] * axis), shape[axis] // groups, groups, *_rest(o, shape[axis + 1 :])])
    o.put(o.reduce("ReduceMax", split, [axis + 1], keep=False))


def _rest(o: OpWriter, dims: list[int]) -> list[int]:
    """The last dimensions of a reshape, of which one may be computed."""
    if dims.count(-1) > 1:
        o.static()
    return dims
