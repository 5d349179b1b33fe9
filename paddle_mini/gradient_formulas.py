# First gradients as formulas of differentiable operators, for operators whose gradients are kernels of their own.
#
# The gradient of a gradient is that of its formula. Each function makes the operators of a formula and returns their
# results by output port; means, sums and factors are written as in the docs of the schemas.
from __future__ import annotations

import math
from collections.abc import Callable

from .formula import Formula
from .operator import Operator
from .transaction import before_setting
from .variable import Variable

Results = dict[str, Variable]


def formula_of(op: Operator) -> Callable[[Formula], Results] | None:
    """The formula of a gradient operator; None if its gradient is an operator, or there is none."""
    if op.type == "elementwise_div_grad" and op.output("X@GRAD"):
        find = op.block.var
        if find(op.output("X@GRAD")[0]).shape == find(op.input("Out")[0]).shape:
            return None  # PaddlePaddle's elementwise_div_grad_grad computes it
    return FORMULAS.get(op.type)


def write_formula(op: Operator) -> list[Operator]:
    """Appends the formula of a gradient operator. Returns its operators as if they had written the results of `op`; those
    that would write these again are not part of the program."""
    block, formula = op.block, formula_of(op)
    begin = len(block.ops)
    results = formula(Formula(op)) if formula else {}
    made = block.ops[begin:]
    for port, result in results.items():
        if not op.output(port):
            continue
        for one in made:
            one.rename(result.name, op.output(port)[0])
        before_setting(block.vars, result.name)
        del block.vars[result.name]
    written = set(op.output_names)
    for index in reversed(range(begin, len(block.ops))):
        if not written.isdisjoint(block.ops[index].output_names):
            block.remove_op(index)
    return made


def _all_axes(x: Variable) -> list[int]:
    return list(range(len(x.shape)))


def _softmax(f: Formula) -> Results:
    product = f["Out"] * f["Out@GRAD"]
    return {"X@GRAD": product - f["Out"] * f.sum(product, [f.attr("axis")])}


def _log_softmax(f: Formula) -> Results:
    g = f["Out@GRAD"]
    return {"X@GRAD": g - f.apply("exp", f["Out"]) * f.sum(g, [f.attr("axis")])}


def _classes(f: Formula, label: Variable, scores: Variable) -> Variable:
    """1 at the label of each row; 0 elsewhere, and in rows of ignore_index."""
    if len(label.shape) == len(scores.shape):
        label = f.apply("squeeze2", label, axes=[len(scores.shape) - 1])
    hot = f.apply("one_hot_v2", label, depth=scores.shape[-1], allow_out_of_range=True, dtype=scores.dtype)
    if not 0 <= f.attr("ignore_index") < scores.shape[-1]:
        return hot
    counts = f.as_number(f.differs(label, f.attr("ignore_index")), scores)
    return hot * f.apply("unsqueeze2", counts, axes=[len(scores.shape) - 1])


def _softmax_with_cross_entropy(f: Formula) -> Results:
    """(Softmax - label) Loss@GRAD; Softmax again from the logits, because no gradient flows through the output Softmax."""
    rank = len(f["Softmax"].shape)
    if not f.attr("use_softmax") or f.attr("axis") not in (-1, rank - 1):
        f.refuse("it needs use_softmax and the last axis")
    forward = next(one for one in f.block.ops if f["Softmax"].name in one.output("Softmax"))
    scores = f.apply("softmax", f.block.var(forward.input("Logits")[0]), axis=rank - 1)
    if f.attr("soft_label"):
        difference = scores - f["Label"]
    else:
        hot = _classes(f, f["Label"], scores)
        difference = scores * f.sum(hot, [rank - 1]) - hot
    return {"Logits@GRAD": difference * f["Loss@GRAD"]}


def _cross_entropy(f: Formula) -> Results:
    """-label Y@GRAD / X, where the divisor is 1 for the other classes."""
    x, g = f["X"], f["Y@GRAD"]
    if f.attr("soft_label"):
        return {"X@GRAD": f["Label"] * g * -1.0 / x}
    if len(g.shape) < len(x.shape):
        g = f.apply("unsqueeze2", g, axes=[len(g.shape)])
    hot = _classes(f, f["Label"], x)
    return {"X@GRAD": hot * g * -1.0 / (x * hot + (1.0 - hot))}


def _sigmoid_cross_entropy(f: Formula) -> Results:
    if f.has("pos_weight") or f.attr("normalize"):
        f.refuse("it needs neither pos_weight nor normalize")
    x, label = f["X"], f["Label"]
    counts = f.as_number(f.differs(f.apply("trunc", label), f.attr("ignore_index")), x)
    return {"X@GRAD": (f.apply("sigmoid", x) - label) * counts * f["Out@GRAD"]}


def _normalized(f: Formula, x: Variable, g: Variable, axes: list[int]) -> tuple[Variable, Variable]:
    """xhat, and the gradient of x for g, that of xhat, where mean and variance over the axes follow from x."""
    moved = x - f.mean(x, axes)
    factor = f.apply("rsqrt", f.mean(moved * moved, axes) + f.attr("epsilon"))
    xhat = moved * factor
    return xhat, (g - f.mean(g, axes) - xhat * f.mean(g * xhat, axes)) * factor


def _layer_norm(f: Formula) -> Results:
    x, g, begin = f["X"], f["Y@GRAD"], f.attr("begin_norm_axis")
    axes, rows = _all_axes(x)[begin:], list(range(begin))
    row = list(x.shape[begin:])
    scaled = f.times(g, f.apply("reshape2", f["Scale"], shape=row), begin) if f.has("Scale") else g
    xhat, x_gradient = _normalized(f, x, scaled, axes)
    results = {"X@GRAD": x_gradient}
    for port, terms in (("Scale", g * xhat), ("Bias", g)):
        if f.wants(port):
            # The assignment, the last operator, is left out; the reshaping has another result, which its gradient reads.
            flat = f.apply("reshape2", f.sum(terms, rows, keep=False), shape=[math.prod(row)])
            results[port + "@GRAD"] = f.apply("assign", flat)
    return results


def _channel_norm(f: Formula, axes: list[int], channel: int, running: Variable | None = None) -> Results:
    x, g = f["X"], f["Y@GRAD"]
    others = [axis for axis in _all_axes(x) if axis != channel]
    scaled = f.times(g, f["Scale"], channel) if f.has("Scale") else g
    if running is None:
        xhat, x_gradient = _normalized(f, x, scaled, axes)
    else:
        factor = f.constant(f.apply("rsqrt", running + f.attr("epsilon")))
        mean = f.constant(f.apply("assign", f["MeanOut"]))
        moved = f.make("elementwise_sub", {"X": x, "Y": mean}, {"axis": channel})
        xhat, x_gradient = f.times(moved, factor, channel), f.times(scaled, factor, channel)
    results = {"X@GRAD": x_gradient}
    for port, terms in (("Scale", g * xhat), ("Bias", g)):
        if f.wants(port):
            results[port + "@GRAD"] = f.sum(terms, others, keep=False)
    return results


def _batch_norm(f: Formula) -> Results:
    rank = len(f["X"].shape)
    channel = rank - 1 if f.attr("data_layout") == "NHWC" else 1
    uses_running = f.attr("use_global_stats") or (f.attr("is_test") and not f.attr("trainable_statistics"))
    axes = [axis for axis in range(rank) if axis != channel]
    return _channel_norm(f, axes, channel, f["VarianceOut"] if uses_running else None)


def _instance_norm(f: Formula) -> Results:
    return _channel_norm(f, _all_axes(f["X"])[2:], 1)


def _p_norm(f: Formula) -> Results:
    """sign(X) |X|^(p - 1) / (Out^(p - 1) + epsilon) Out@GRAD."""
    x, p = f["X"], f.attr("porder")
    if p == 0 or math.isinf(p):
        f.refuse(f"porder is {p}")
    if f.attr("asvector"):
        f.refuse("it needs an axis, not asvector")
    rank = len(x.shape)
    axis, keep = f.attr("axis") % max(rank, 1), f.attr("keepdim") or rank == 0
    out, g = (f.kept(f[port], [axis], keep) for port in ("Out", "Out@GRAD"))
    if p == 2:
        return {"X@GRAD": x / (out + f.attr("epsilon")) * g}
    power = f.apply("sign", x) * f.apply("pow", f.apply("abs", x), factor=p - 1)
    return {"X@GRAD": power / (f.apply("pow", out, factor=p - 1) + f.attr("epsilon")) * g}


def _norm(f: Formula) -> Results:
    x, g, axis = f["X"], f["Out@GRAD"], f.attr("axis")
    length = f.apply("sqrt", f.sum(x * x, [axis]) + f.attr("epsilon"))
    out = x / length
    return {"X@GRAD": (g - out * f.sum(g * out, [axis])) / length}


def _reduced(f: Formula) -> tuple[Variable, Variable]:
    """Out and Out@GRAD of a reduction, with dimensions of 1 in place of the reduced axes."""
    x = f["X"]
    if not x.shape:
        return f["Out"], f["Out@GRAD"]
    chosen = [axis % len(x.shape) for axis in f.attr("dim")]
    axes = _all_axes(x) if f.attr("reduce_all") or not chosen else sorted(chosen)
    keep = f.attr("keep_dim")
    if not keep and len(axes) == len(x.shape):
        ones = [1] * len(axes)
        out, g = (f.apply("reshape2", f[port], shape=ones) for port in ("Out", "Out@GRAD"))
        return out, g
    return f.kept(f["Out"], axes, keep), f.kept(f["Out@GRAD"], axes, keep)


def _extreme(f: Formula) -> Results:
    out, g = _reduced(f)
    return {"X@GRAD": f.as_number(f.make("equal", {"X": f["X"], "Y": out}), f["X"]) * g}


def _frobenius_norm(f: Formula) -> Results:
    out, g = _reduced(f)
    return {"X@GRAD": f["X"] / out * g}


def _squared_l2_norm(f: Formula) -> Results:
    return {"X@GRAD": f["X"] * 2.0 * f["Out@GRAD"]}


def _larger(relation: str) -> Callable[[Formula], Results]:
    def formula(f: Formula) -> Results:
        truth = f.make(relation, {"X": f["X"], "Y": f["Y"]}, {"axis": f.attr("axis")})
        chosen, g = f.as_number(truth, f["X"]), f["Out@GRAD"]
        factors = {"X": chosen, "Y": 1.0 - chosen}
        return {port + "@GRAD": f.summed_product(port, factors[port], g) for port in "XY" if f.wants(port)}

    return formula


def _divide(f: Formula) -> Results:
    """Out@GRAD / Y, and -Out@GRAD Out / Y."""
    g, inverse = f["Out@GRAD"], f.apply("reciprocal", f["Y"])
    results = {}
    if f.wants("X"):
        results["X@GRAD"] = f.summed_product("X", inverse, g)
    if f.wants("Y"):
        results["Y@GRAD"] = f.summed_product("Y", f.times(f["Out"], inverse, f.attr("axis")) * -1.0, g)
    return results


def _power(f: Formula) -> Results:
    """Out@GRAD Y X^(Y - 1), and Out@GRAD log(X) X^Y."""
    x, y, g, axis = f["X"], f["Y"], f["Out@GRAD"], {"axis": f.attr("axis")}
    results = {}
    if f.wants("X"):
        slope = f.times(f.make("elementwise_pow", {"X": x, "Y": y - 1.0}, axis), y, f.attr("axis"))
        results["X@GRAD"] = f.summed_product("X", slope, g)
    if f.wants("Y"):
        slope = f.times(f.make("elementwise_pow", {"X": x, "Y": y}, axis), f.apply("log", x), f.attr("axis"))
        results["Y@GRAD"] = f.summed_product("Y", slope, g)
    return results


FORMULAS: dict[str, Callable[[Formula], Results]] = {
    "softmax_grad": _softmax,
    "log_softmax_grad": _log_softmax,
    "softmax_with_cross_entropy_grad": _softmax_with_cross_entropy,
    "cross_entropy_grad": _cross_entropy,
    "sigmoid_cross_entropy_with_logits_grad": _sigmoid_cross_entropy,
    "layer_norm_grad": _layer_norm,
    "batch_norm_grad": _batch_norm,
    "instance_norm_grad": _instance_norm,
    "p_norm_grad": _p_norm,
    "norm_grad": _norm,
    "reduce_max_grad": _extreme,
    "reduce_min_grad": _extreme,
    "frobenius_norm_grad": _frobenius_norm,
    "squared_l2_norm_grad": _squared_l2_norm,
    "elementwise_max_grad": _larger("greater_than"),
    "elementwise_min_grad": _larger("less_than"),
    "elementwise_div_grad": _divide,
    "elementwise_pow_grad": _power,
}
