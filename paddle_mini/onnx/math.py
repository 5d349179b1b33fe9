# Converters of arithmetic, comparison, activation and matrix products.
from __future__ import annotations

from functools import reduce as fold

import numpy as np

from .. import dtypes
from ..variable import Variable
from .names import BINARY, UNARY, VARIADIC, WITH_ATTRIBUTES
from .node import Node, converter
from .tensors import Unsupported


@converter(*UNARY)
def unary(n: Node) -> Variable:
    return n.op(UNARY[n.type], n.x())


@converter("Identity")
def identity(n: Node) -> None:
    n.reader.alias(n.outputs[0], n.inputs[0])


@converter(*BINARY)
def binary(n: Node) -> Variable:
    return n.op(BINARY[n.type], n.x(0), n.x(1))


@converter("Sum", *VARIADIC)
def variadic(n: Node) -> Variable:
    first, *rest = n.xs()
    return fold(lambda x, y: n.op(VARIADIC.get(n.type, "elementwise_add"), x, y), rest, first)


@converter("Mean")
def mean(n: Node) -> Variable:
    return n.scale(fold(n.add, n.xs()), 1 / len(n.xs()))


@converter("Neg")
def neg(n: Node) -> Variable:
    return n.scale(n.x(), -1)


@converter("Pow")
def power(n: Node) -> Variable:
    x, y = n.x(0), n.x(1)
    if x.dtype in dtypes.INTEGER_NAMES and y.dtype in dtypes.FLOAT_NAMES:
        return n.cast(n.op("elementwise_pow", n.cast(x, "float64"), n.cast(y, "float64")), x.dtype)
    return n.op("elementwise_pow", x, n.cast(y, x.dtype))


@converter("Mod")
def mod(n: Node) -> Variable:
    x, y = n.x(0), n.x(1)
    if not n.attr("fmod"):
        return n.op("elementwise_mod", x, y)
    # The result has the sign of x, that of elementwise_mod the sign of y: the sign of x is put on |x| mod |y|.
    size = n.op("elementwise_mod", n.op("abs", n.widened(x)), n.op("abs", n.widened(y)))
    return n.cast(n.mul(size, n.op("sign", n.widened(x))), x.dtype)


@converter("BitShift")
def bit_shift(n: Node) -> Variable:
    x, count = n.x(0), n.cast(n.x(1), "int64")
    bits = np.iinfo(x.dtype).bits
    # Counts below 0, and from the width on, shift out all bits.
    all_bits = n.constant(bits, "int64")
    index = select(n, n.op("less_than", count, n.constant(0, "int64")), all_bits, n.op("elementwise_min", count, all_bits))
    made = n.cast(x, "int64")

    def power_of(exponents: list[int], last: int) -> Variable:
        table = n.constant(np.array([*(1 << e for e in exponents), last], np.uint64).astype("int64"), "int64")
        flat = n.emit("gather", {"X": table, "Index": n.reshape(index, [-1])}, {"axis": 0})
        return n.emit("reshape2", {"X": flat, "Shape": n.emit("shape", {"Input": count})}) if count.shape else n.reshape(flat, [])

    if n.attr("direction") == "LEFT":
        return n.cast(n.mul(made, power_of(list(range(bits)), 0)), x.dtype)
    most = bits if x.dtype == "uint8" else bits - 1  # a signed integer keeps its sign
    exponents = [*range(bits), most]
    for part in ([min(e, 32) for e in exponents], [max(e - 32, 0) for e in exponents]):  # 2^63 is not an int64
        power = power_of(part[:-1], 1 << part[-1])
        # The remainder has the sign of the power: the quotient is exact, and rounded down.
        made = n.op("elementwise_div", n.sub(made, n.op("elementwise_mod", made, power)), power) if any(part) else made
    return n.cast(made, x.dtype)


@converter("Round")
def round_(n: Node) -> Variable:
    return round_to_even(n, n.x())


def round_to_even(n: Node, x: Variable) -> Variable:
    # The operator `round` rounds halves away from 0: 2 round(x / 2) is right where x is halfway between two integers.
    nearest, below = n.op("round", x), n.op("floor", x)
    half = n.op("equal", n.sub(x, below), n.constant(0.5, x.dtype))
    return select(n, half, n.scale(n.op("floor", n.scale(n.scale(below, 1, 1), 0.5)), 2), nearest)


@converter("IsInf")
def is_inf(n: Node) -> Variable:
    x = n.x()
    infinite = n.op("isinf_v2", x)
    zero = n.constant(0, x.dtype)
    if not n.attr("detect_positive"):
        infinite = n.op("logical_and", infinite, n.op("less_than", x, zero))
    if not n.attr("detect_negative"):
        infinite = n.op("logical_and", infinite, n.op("greater_than", x, zero))
    return infinite


def select(n: Node, condition: Variable, x: Variable, y: Variable) -> Variable:
    """x where the condition is true, else y; all three are broadcast."""
    if not list(condition.shape) == list(x.shape) == list(y.shape):
        # Zeros of the common shape: what is multiplied with 0 here are truth values, never NaN.
        common = n.op("logical_or", condition, n.op("logical_or", false_like(n, x), false_like(n, y)))
        empty = false_like(n, common)
        condition = n.op("logical_or", condition, empty)
        x, y = (n.emit("expand_as_v2", {"X": value, "Y": common}, {"target_shape": list(common.shape)}) for value in (x, y))
    if x.dtype in ("int32", "int64", "float32", "float64"):
        return n.emit("where", {"Condition": condition, "X": x, "Y": y})
    if x.dtype not in dtypes.NUMBERS or x.dtype == "float16" or x.dtype == "bfloat16":
        return n.emit("where", {"Condition": condition, "X": x, "Y": y})
    wide = n.emit("where", {"Condition": condition, "X": n.cast(x, "int32"), "Y": n.cast(y, "int32")})
    return n.cast(wide, x.dtype)


def false_like(n: Node, x: Variable) -> Variable:
    return n.emit("fill_any_like", {"X": x}, {"value": 0.0, "dtype": "bool"})


@converter("Where")
def where(n: Node) -> Variable:
    return select(n, n.x(0), n.x(1), n.x(2))


@converter("Clip")
def clip(n: Node) -> Variable:
    x = n.x()
    if n.has(1):
        x = n.op("elementwise_max", x, n.x(1))
    return n.op("elementwise_min", x, n.x(2)) if n.has(2) else n.op("assign", x)


@converter(*WITH_ATTRIBUTES)
def with_attributes(n: Node) -> Variable:
    op_type, names = WITH_ATTRIBUTES[n.type]
    return n.op(op_type, n.x(), **{ours: n.attr(theirs) for theirs, ours in names.items()})


@converter("HardSwish")
def hard_swish(n: Node) -> Variable:
    return n.op("hard_swish", n.x())


@converter("Selu")
def selu(n: Node) -> Variable:
    scale, alpha = n.attr("gamma"), n.attr("alpha")
    if scale < 1 or alpha < 0:
        return n.scale(n.op("elu", n.x(), alpha=alpha), scale)
    return n.op("selu", n.x(), alpha=alpha, scale=scale)


@converter("Gelu")
def gelu(n: Node) -> Variable:
    return n.op("gelu", n.x(), approximate=n.attr("approximate") == "tanh")


@converter("Softplus")
def softplus(n: Node) -> Variable:
    x = n.x()
    # max(x, 0) + log1p(exp(-|x|)) does not overflow; the operator softplus is linear above its threshold.
    return n.add(n.op("relu", x), n.op("log1p", n.op("exp", n.scale(n.op("abs", x), -1))))


@converter("Mish")
def mish(n: Node) -> Variable:
    return n.mul(n.x(), n.op("tanh", softplus(n)))


@converter("Swish")
def swish(n: Node) -> Variable:
    return n.mul(n.x(), n.op("sigmoid", n.scale(n.x(), n.attr("alpha"))))


@converter("Shrink")
def shrink(n: Node) -> Variable:
    x = n.x()
    bias, limit = n.attr("bias"), n.attr("lambd")
    wide = x if x.dtype in dtypes.FLOAT_NAMES else n.cast(x, "float32")
    low = n.cast(n.op("less_than", wide, n.constant(-limit, wide.dtype)), wide.dtype)
    high = n.cast(n.op("greater_than", wide, n.constant(limit, wide.dtype)), wide.dtype)
    moved = n.add(n.mul(n.scale(wide, 1, bias), low), n.mul(n.scale(wide, 1, -bias), high))
    return n.cast(moved, x.dtype)


@converter("PRelu")
def prelu(n: Node) -> Variable:
    x, slope = n.x(0), n.x(1)
    zero = n.constant(0, x.dtype)
    return n.add(n.op("elementwise_max", x, zero), n.mul(slope, n.op("elementwise_min", x, zero)))


@converter("Hardmax")
def hardmax(n: Node) -> Variable:
    x, rank = n.x(), len(n.x().shape)
    axis = n.axis(n.attr("axis"), rank)
    depth = x.shape[axis]
    if depth < 0:
        raise Unsupported(f"dimension {axis} of '{x.name}' must be known")
    last = [i for i in range(rank) if i != axis] + [axis]
    first = n.emit("arg_max", {"X": x}, {"axis": axis, "dtype": "int64"})
    hot = n.cast(n.op("one_hot_v2", first, depth=depth), x.dtype)
    return n.transpose(hot, [int(i) for i in np.argsort(last)])


@converter("MatMul")
def matmul(n: Node) -> Variable:
    x, y = n.x(0), n.x(1)
    if x.dtype in dtypes.INTEGER_NAMES:
        raise Unsupported(f"products of matrices of {x.dtype}")
    return n.op("matmul_v2", x, y)


@converter("Det")
def det(n: Node) -> Variable:
    return n.emit("determinant", {"Input": n.x()})


@converter("Gemm")
def gemm(n: Node) -> Variable:
    x, y = n.x(0), n.x(1)
    if x.dtype in dtypes.INTEGER_NAMES:
        raise Unsupported(f"products of matrices of {x.dtype}")
    alpha, beta = n.attr("alpha"), n.attr("beta")
    made = n.op("matmul_v2", x, y, trans_x=bool(n.attr("transA")), trans_y=bool(n.attr("transB")))
    made = made if alpha == 1 else n.scale(made, alpha)
    if not n.has(2) or beta == 0:
        return made
    return n.add(made, n.x(2) if beta == 1 else n.scale(n.x(2), beta))


@converter("Einsum")
def einsum(n: Node) -> Variable:
    return n.emit("einsum", {"Operands": n.xs()}, {"equation": n.attr("equation").replace(" ", "")}, output=["Out"])[0]
