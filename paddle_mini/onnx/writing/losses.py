# Exporters of losses.
from __future__ import annotations

from ..tensors import Unsupported
from .activation import softplus
from .op import OpWriter, exporter


def _rows(o: OpWriter, x: str, label: str, axis: int, has_axis: bool) -> str:
    """The elements of x that labels name along an axis; labels are within the range."""
    index = label if has_axis else o.unsqueeze(label, [axis])
    picked = o.emit("GatherElements", x, index, axis=axis)
    return picked if has_axis else o.squeeze(picked, [axis])


def _hard_label(o: OpWriter) -> tuple[str, str]:
    """Labels of which ignored ones are 0, and where they are ignored."""
    label = o.cast(o.x("Label"), "int64")
    ignored = o.emit("Equal", label, o.constant(o.attr("ignore_index"), "int64"))
    return o.emit("Where", ignored, o.constant(0, "int64"), label), ignored


@exporter("cross_entropy", "cross_entropy2")
def cross_entropy(o: OpWriter) -> None:
    x, rank = o.x(), o.rank()
    if o.type == "cross_entropy" and o.attr("soft_label"):
        logs = o.emit("Max", o.emit("Log", x), o.like(-1e20))
        o.put(o.emit("Neg", o.reduce("ReduceSum", o.mul(o.x("Label"), logs), [rank - 1], keep=True)), "Y")
        return
    label, ignored = _hard_label(o)
    has_axis = o.rank("Label") == rank
    picked = _rows(o, x, label, rank - 1, has_axis)
    loss = o.emit("Neg", o.emit("Max", o.emit("Log", picked), o.like(-1e20)))
    o.put(o.emit("Where", ignored, o.like(0.0), loss), "Y")
    if o.wants("MatchX") if o.type == "cross_entropy2" else False:
        o.put(picked if has_axis else o.unsqueeze(picked, [rank - 1]), "MatchX")


@exporter("softmax_with_cross_entropy")
def softmax_with_cross_entropy(o: OpWriter) -> None:
    x, rank = o.x("Logits"), o.rank("Logits")
    axis = o.axis(o.attr("axis"), rank)
    if o.attr("use_softmax"):
        # Logits more than 64 below the maximum count as 64 below it, as in this operator.
        below = o.emit("Max", o.sub(x, o.reduce("ReduceMax", x, [axis], keep=True)), o.like(-64.0, "Logits"))
        probabilities, logs = o.emit("Softmax", x, axis=axis), o.emit("LogSoftmax", below, axis=axis)
    else:
        probabilities, logs = o.emit("Identity", x), o.emit("Log", x)
    o.put(probabilities, "Softmax")
    if o.attr("soft_label"):
        o.put(o.emit("Neg", o.reduce("ReduceSum", o.mul(o.x("Label"), logs), [axis], keep=True)), "Loss")
        return
    label, ignored = _hard_label(o)
    loss = o.emit("Neg", _rows(o, logs, label, axis, has_axis=True))
    o.put(o.emit("Where", ignored, o.like(0.0, "Logits"), loss), "Loss")


@exporter("nll_loss")
def nll_loss(o: OpWriter) -> None:
    label, ignored = _hard_label(o)
    x, zero, one = o.x(), o.like(0.0), o.like(1.0)
    weight = o.emit("Gather", o.x("Weight"), label, axis=0) if o.has("Weight") else o.emit("Where", ignored, zero, one)
    weight = o.emit("Where", ignored, zero, weight)
    loss = o.emit("Neg", o.mul(_rows(o, x, label, 1, has_axis=False), weight))
    total = o.reduce("ReduceSum", weight, None, keep=False)
    how = o.attr("reduction")
    if how == "none":
        o.put(loss)
        o.put(o.like(0.0), "Total_weight")
        return
    added = o.reduce("ReduceSum", loss, None, keep=False)
    some = o.emit("Where", o.emit("Equal", total, zero), one, total)  # the mean of no rows is 0
    o.put(o.div(added, some) if how == "mean" else added)
    o.put(total, "Total_weight")


@exporter("square_error_cost")
def square_error(o: OpWriter) -> None:
    difference = o.sub(o.x("X"), o.x("Y"))
    o.put(o.mul(difference, difference))


@exporter("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy(o: OpWriter) -> None:
    x, label, zero, one = o.x(), o.x("Label"), o.like(0.0), o.like(1.0)
    if o.has("pos_weight"):
        # The weight is a factor of log(1 + exp(-x)) for each label, as in this operator.
        other = o.mul(o.x("pos_weight"), softplus(o, o.emit("Neg", x)))
        loss = o.add(o.mul(o.sub(one, label), x), other)
    else:
        loss = o.sub(softplus(o, x), o.mul(x, label))
    whole = o.mul(o.emit("Sign", label), o.emit("Floor", o.emit("Abs", label)))
    ignored = o.emit("Equal", whole, o.like(float(o.attr("ignore_index"))))
    loss = o.emit("Where", ignored, zero, loss)
    if o.attr("normalize"):
        counted = o.reduce("ReduceSum", o.emit("Where", ignored, zero, one), None, keep=False)
        loss = o.div(loss, o.emit("Max", counted, o.like(1e-5)))
    o.put(loss)


@exporter("bce_loss")
def bce_loss(o: OpWriter) -> None:
    x, label, one, lowest = o.x(), o.x("Label"), o.like(1.0), o.like(-100.0)
    hit = o.mul(label, o.emit("Max", o.emit("Log", x), lowest))
    miss = o.mul(o.sub(one, label), o.emit("Max", o.emit("Log", o.sub(one, x)), lowest))
    o.put(o.emit("Neg", o.add(hit, miss)))


@exporter("log_loss")
def log_loss(o: OpWriter) -> None:
    p, label, one, epsilon = o.x("Predicted"), o.x("Labels"), o.like(1.0, "Predicted"), o.like(o.attr("epsilon"), "Predicted")
    hit = o.mul(label, o.emit("Log", o.add(p, epsilon)))
    miss = o.mul(o.sub(one, label), o.emit("Log", o.add(o.sub(one, p), epsilon)))
    o.put(o.emit("Neg", o.add(hit, miss)), "Loss")


@exporter("hinge_loss")
def hinge_loss(o: OpWriter) -> None:
    one, two = o.like(1.0, "Logits"), o.like(2.0, "Logits")
    sign = o.sub(o.mul(o.x("Labels"), two), one)
    o.put(o.emit("Relu", o.sub(one, o.mul(o.x("Logits"), sign))), "Loss")


@exporter("huber_loss")
def huber_loss(o: OpWriter) -> None:
    delta, half = o.like(o.attr("delta")), o.like(0.5)
    rest = o.sub(o.x("Y"), o.x("X"))
    size = o.emit("Abs", rest)
    outside = o.mul(delta, o.sub(size, o.mul(half, delta)))
    o.put(o.emit("Where", o.emit("LessOrEqual", size, delta), o.mul(half, o.mul(rest, rest)), outside))
    o.put(rest, "Residual")


@exporter("kldiv_loss")
def kldiv_loss(o: OpWriter) -> None:
    target, zero = o.x("Target"), o.like(0.0)
    loss = o.mul(target, o.sub(o.emit("Log", target), o.x()))
    loss = o.emit("Where", o.emit("Greater", target, zero), loss, zero)
    how = o.attr("reduction")
    if how in ("mean", "sum"):
        loss = o.reduce("ReduceMean" if how == "mean" else "ReduceSum", loss, None, keep=False)
    elif how == "batchmean":
        rows = o.cast(o.squeeze(o.dim(o.x(), 0), [0]), o.dtype())
        loss = o.div(o.reduce("ReduceSum", loss, None, keep=False), rows)
    o.put(loss, "Loss")


@exporter("label_smooth")
def label_smooth(o: OpWriter) -> None:
    epsilon, classes = o.attr("epsilon"), o.shape()[-1]
    if classes < 0:
        o.static()
    prior = o.mul(o.x("PriorDist"), o.like(epsilon)) if o.has("PriorDist") else o.like(epsilon / classes)
    o.put(o.add(o.mul(o.x(), o.like(1 - epsilon)), prior))


@exporter("rank_loss")
def rank_loss(o: OpWriter) -> None:
    difference = o.sub(o.x("Left"), o.x("Right"))
    o.put(o.sub(softplus(o, difference), o.mul(o.x("Label"), difference)))


@exporter("bpr_loss")
def bpr_loss(o: OpWriter) -> None:
    x, rank, classes = o.x(), o.rank(), o.shape()[-1]
    if classes < 2:
        raise Unsupported("the number of classes must be known")
    label = o.x("Label")
    own = o.emit("GatherElements", x, label, axis=rank - 1)
    terms = softplus(o, o.sub(x, own))
    other = o.emit("Not", o.emit("Equal", label, o.constant(range(classes), o.dtype("Label"))))
    added = o.reduce("ReduceSum", o.emit("Where", other, terms, o.like(0.0)), [rank - 1], keep=True)
    o.put(o.div(added, o.like(classes - 1.0)), "Y")


@exporter("teacher_student_sigmoid_loss")
def teacher_student_sigmoid_loss(o: OpWriter) -> None:
    x, label, one, two = o.x(), o.x("Label"), o.like(1.0), o.like(2.0)
    soft = softplus(o, x)
    scored = o.sub(o.mul(two, soft), o.mul(x, label))
    clicked = o.sub(o.mul(two, soft), o.add(x, o.mul(x, o.sub(label, one))))
    made = o.emit("Where", o.emit("Less", label, one), scored, clicked)
    made = o.emit("Where", o.emit("Less", label, o.like(0.0)), o.sub(soft, x), made)
    o.put(o.emit("Where", o.emit("Less", label, o.like(-1.0)), soft, made), "Y")


@exporter("cvm")
def cvm(o: OpWriter) -> None:
    x, far = o.x(), 2**63 - 1
    rest = o.slice(x, [1], [2], [far])
    if not o.attr("use_cvm"):
        o.put(rest, "Y")
        return
    shows, clicks = (o.emit("Log", o.add(o.slice(x, [1], [i], [i + 1]), o.like(1.0))) for i in (0, 1))
    o.put(o.concat([shows, o.sub(clicks, shows), rest], 1), "Y")
