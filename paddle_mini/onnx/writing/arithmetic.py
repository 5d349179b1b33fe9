# Exporters of arithmetic, comparison and logic.
from __future__ import annotations

import numpy as np

from ... import dtypes
from ..names import BINARY, UNARY, VARIADIC
from .op import OpWriter, exporter

_UNARY = {ours: theirs for theirs, ours in UNARY.items()}
_BINARY = {ours: theirs for theirs, ours in {**BINARY, **VARIADIC}.items()}
_LOGICAL = ("And", "Or", "Xor", "Not")
_BITWISE = {"BitwiseAnd": "And", "BitwiseOr": "Or", "BitwiseXor": "Xor", "BitwiseNot": "Not"}


def operands(o: OpWriter) -> tuple[str, str]:
    """X and Y, of which Y's dimensions lie against X's from `axis` on, in shapes that ONNX broadcasts."""
    x, y, axis = o.x("X"), o.x("Y"), o.attr("axis")
    shapes = {"X": o.shape("X"), "Y": o.shape("Y")}
    if axis is None or axis < 0 or len(shapes["X"]) == len(shapes["Y"]):
        return x, y
    long, short = ("X", "Y") if len(shapes["X"]) > len(shapes["Y"]) else ("Y", "X")
    more = len(shapes[long]) - axis - len(shapes[short])
    value, rank = (y if short == "Y" else x), len(shapes[short])
    # The last dimensions of 1 may lie outside of the longer shape.
    value = o.squeeze(value, range(rank + more, rank)) if more < 0 else o.unsqueeze(value, range(rank, rank + more))
    return (x, value) if short == "Y" else (value, y)


@exporter(*_UNARY)
def unary(o: OpWriter) -> None:
    name, x = _UNARY[o.type], o.x()
    if name in _LOGICAL and o.dtype() != "bool":
        x = o.cast(x, "bool")
    if name in _BITWISE and o.dtype() == "bool":
        name = _BITWISE[name]
    if name == "IsNaN" and not o.is_float():
        x = o.cast(x, "float64")
    o.put(o.emit(name, x))


@exporter(*_BINARY)
def binary(o: OpWriter) -> None:
    name = _BINARY[o.type]
    x, y = operands(o)
    if name in _LOGICAL:
        x, y = (value if o.dtype(port) == "bool" else o.cast(value, "bool") for value, port in ((x, "X"), (y, "Y")))
    if name in _BITWISE and o.dtype() == "bool":
        name = _BITWISE[name]
    if name in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual") and o.dtype() == "bool":
        x, y = o.cast(x, "int32"), o.cast(y, "int32")
    o.put(o.emit(name, x, y))


@exporter("not_equal")
def not_equal(o: OpWriter) -> None:
    o.put(o.emit("Not", o.emit("Equal", *operands(o))))


@exporter("equal_all")
def equal_all(o: OpWriter) -> None:
    if o.static("X") != o.static("Y"):
        o.put(o.constant(False, "bool"))
        return
    o.put(_all(o, o.emit("Equal", o.x("X"), o.x("Y"))))


@exporter("allclose")
def all_close(o: OpWriter) -> None:
    o.refuse("Rtol", "Atol")
    x, y = o.x("Input"), o.x("Other")
    rtol, atol = (o.like(float(o.attr(name)), "Input") for name in ("rtol", "atol"))
    near = o.emit("LessOrEqual", o.emit("Abs", o.sub(x, y)), o.add(atol, o.mul(rtol, o.emit("Abs", y))))
    near = o.emit("Or", near, o.emit("Equal", x, y))
    if o.attr("equal_nan"):
        near = o.emit("Or", near, o.emit("And", o.emit("IsNaN", x), o.emit("IsNaN", y)))
    o.put(_all(o, near))


def _all(o: OpWriter, truth: str) -> str:
    return o.cast(o.emit("ReduceMin", o.cast(truth, "int32"), keepdims=0), "bool")


@exporter("elementwise_fmax", "elementwise_fmin")
def without_nan(o: OpWriter) -> None:
    x, y = operands(o)
    made = o.emit("Max" if o.type == "elementwise_fmax" else "Min", x, y)
    if o.is_float():
        made = o.emit("Where", o.emit("IsNaN", x), y, o.emit("Where", o.emit("IsNaN", y), x, made))
    o.put(made)


@exporter("elementwise_pow")
def power(o: OpWriter) -> None:
    x, y = operands(o)
    if o.is_float():
        o.put(o.emit("Pow", x, y))
        return
    # Powers of integers are computed in float64, as they are here.
    o.put(o.cast(o.emit("Pow", o.cast(x, "float64"), o.cast(y, "float64")), o.dtype()))


@exporter("elementwise_mod")
def mod(o: OpWriter) -> None:
    x, y = operands(o)
    if not o.is_float():
        o.put(o.emit("Mod", x, y))
        return
    rest, zero = o.emit("Mod", x, y, fmod=1), o.like(0.0)
    # ONNX's remainder of floats has the sign of x; this operator's has that of y.
    other = o.emit("Xor", o.emit("Less", rest, zero), o.emit("Less", y, zero))
    moved = o.emit("And", other, o.emit("Not", o.emit("Equal", rest, zero)))
    o.put(o.emit("Where", moved, o.add(rest, y), rest))


@exporter("elementwise_floordiv")
def floordiv(o: OpWriter) -> None:
    x, y = operands(o)
    if o.is_float():
        o.put(o.emit("Floor", o.div(x, y)))
        return
    # The remainder with the sign of y makes the division exact.
    o.put(o.div(o.sub(x, o.emit("Mod", x, y)), y))


@exporter("scale")
def scale(o: OpWriter) -> None:
    x, dtype = o.x(), o.dtype()
    factor = o.cast(o.reshape(o.x("ScaleTensor"), []), dtype) if o.has("ScaleTensor") else None
    number, bias = o.attr("scale"), o.attr("bias")
    if dtype in dtypes.INTEGER_NAMES and (number != int(number) or bias != int(bias) or factor):
        wide = "float64"
        x = o.cast(x, wide)
        factor = o.cast(factor, wide) if factor else None
    else:
        wide = dtype
    if not o.attr("bias_after_scale") and bias:
        x = o.add(x, o.constant(bias, wide))
    if number == -1 and factor is None:
        x = o.emit("Neg", x)
    elif factor is not None or number != 1:
        x = o.mul(x, factor or o.constant(number, wide))
    if o.attr("bias_after_scale") and bias:
        x = o.add(x, o.constant(bias, wide))
    o.put(o.cast(x, dtype) if wide != dtype else o.emit("Identity", x) if x == o.x() else x)


@exporter("sum")
def total(o: OpWriter) -> None:
    made, *rest = o.xs()
    for x in rest:
        made = o.add(made, x)
    o.put(o.emit("Identity", made) if not rest else made)


@exporter("increment")
def increment(o: OpWriter) -> None:
    o.put(o.add(o.x(), o.like(o.attr("step"))))


@exporter("square")
def square(o: OpWriter) -> None:
    o.put(o.mul(o.x(), o.x()))


@exporter("rsqrt")
def rsqrt(o: OpWriter) -> None:
    o.put(o.emit("Reciprocal", o.emit("Sqrt", o.x())))


@exporter("expm1")
def expm1(o: OpWriter) -> None:
    # exp(x) - 1 = 2 tanh(x/2) / (1 - tanh(x/2)) keeps the digits of small x; exp(x) - 1 is right for the others.
    x, one = o.x(), o.like(1.0)
    half = o.emit("Tanh", o.mul(x, o.like(0.5)))
    small = o.div(o.mul(half, o.like(2.0)), o.sub(one, half))
    o.put(o.emit("Where", o.emit("Less", o.emit("Abs", x), o.like(0.5)), small, o.sub(o.emit("Exp", x), one)))


@exporter("log1p")
def log_1_plus(o: OpWriter) -> None:
    o.put(log1p(o, o.x(), o.dtype()))


def log1p(o: OpWriter, x: str, dtype: str) -> str:
    """log(1 + x), with the digits of small x: log(u) x / (u - 1) with u = 1 + x rounded (Kahan); x where u is 1."""
    one, infinity = o.constant(1.0, dtype), o.constant(np.inf, dtype)
    u = o.add(x, one)
    exact = o.emit("Or", o.emit("Equal", u, one), o.emit("Equal", u, infinity))
    rest = o.emit("Where", exact, one, o.sub(u, one))
    made = o.mul(o.emit("Log", u), o.div(x, rest))
    return o.emit("Where", o.emit("Equal", u, one), x, o.emit("Where", o.emit("Equal", u, infinity), u, made))


@exporter("log2", "log10")
def log_of_base(o: OpWriter) -> None:
    o.put(o.div(o.emit("Log", o.x()), o.like(np.log(2.0 if o.type == "log2" else 10.0))))


@exporter("pow")
def pow_attribute(o: OpWriter) -> None:
    y = o.reshape(o.cast(o.x("FactorTensor"), o.dtype()), []) if o.has("FactorTensor") else o.like(o.attr("factor"))
    if o.is_float():
        o.put(o.emit("Pow", o.x(), y))
        return
    wide = o.cast(y, "float64") if o.has("FactorTensor") else o.constant(int(o.attr("factor")), "float64")
    o.put(o.cast(o.emit("Pow", o.cast(o.x(), "float64"), wide), o.dtype()))


@exporter("round")
def round_from_zero(o: OpWriter) -> None:
    # ONNX rounds halves to even, this operator away from 0.
    x = o.x()
    size = o.emit("Abs", x)
    below = o.emit("Floor", size)
    up = o.emit("GreaterOrEqual", o.sub(size, below), o.like(0.5))
    o.put(o.mul(o.emit("Sign", x), o.add(below, o.cast(up, o.dtype()))))


@exporter("trunc")
def trunc(o: OpWriter) -> None:
    x = o.x()
    made = o.mul(o.emit("Sign", x), o.emit("Floor", o.emit("Abs", x))) if o.is_float() else o.emit("Identity", x)
    o.put(made)


@exporter("isinf_v2", "isfinite_v2")
def is_infinite(o: OpWriter) -> None:
    x = o.x() if o.dtype() in ("float32", "float64") else o.cast(o.x(), "float64")
    infinite = o.emit("IsInf", x)
    if o.type == "isfinite_v2":
        infinite = o.emit("Not", o.emit("Or", infinite, o.emit("IsNaN", x)))
    o.put(infinite)


@exporter("clip")
def clip(o: OpWriter) -> None:
    x = o.x()
    for port, name, op_type in (("Min", "min", "Max"), ("Max", "max", "Min")):
        if o.has(port):
            x = o.emit(op_type, x, o.cast(o.reshape(o.x(port), []), o.dtype()))
        elif o.attr(name) is not None and np.isfinite(o.attr(name)):
            x = o.emit(op_type, x, o.like(bounded(o.attr(name), o.dtype())))
    o.put(o.emit("Identity", x) if x == o.x() else x)


def bounded(number: float, dtype: str) -> float:
    """The number, or the one next to it that the element type has."""
    if dtype not in dtypes.INTEGER_NAMES:
        return number
    limits = np.iinfo(dtype)
    return max(int(limits.min), min(int(number), int(limits.max)))


@exporter("assign", "share_data", "memcpy_h2d", "memcpy_d2h", "rnn_memory_helper")
def assign(o: OpWriter) -> None:
    o.put(o.emit("Identity", o.x()))


@exporter("print")
def printed(o: OpWriter) -> None:
    o.put(o.emit("Identity", o.x("In")))


@exporter("cast")
def cast(o: OpWriter) -> None:
    o.put(o.cast(o.x(), dtypes.dtype_name(o.attr("out_dtype"))))


@exporter("where")
def where(o: OpWriter) -> None:
    o.put(o.emit("Where", o.x("Condition"), o.x("X"), o.x("Y")))


@exporter("multiplex")
def multiplex(o: OpWriter) -> None:
    ids = o.reshape(o.x("Ids"), [-1])
    rank = o.rank()
    made = o.xs()[0]
    for number, x in enumerate(o.xs()[1:], 1):
        chosen = o.emit("Equal", ids, o.constant(number, o.dtype("Ids")))
        made = o.emit("Where", o.unsqueeze(chosen, range(1, rank)), x, made)
    o.put(o.emit("Identity", made) if made == o.xs()[0] else made)
