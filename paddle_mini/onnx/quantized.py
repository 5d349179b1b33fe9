# Converters of operators on quantized numbers: (q - zero point) * scale, computed in floats.
from __future__ import annotations

import numpy as np

from .._core import ProgramError
from ..variable import Variable
from .neural import convolved
from .node import Node, converter
from .tensors import WIDER, Unsupported, element_type, type_name

_ROUNDING = 1.5 * 2**23  # a float32 of this size has no fraction: adding it rounds to the nearest even integer


def _numbers(n: Node, index: int, dtype: str = "float32") -> Variable:
    """An input as numbers of a type; constants may have types that variables do not have."""
    array = n.array(index)
    if array is not None and array.dtype.name in WIDER:
        return n.cast(n.constant(array.astype(WIDER[array.dtype.name])), dtype)
    return n.cast(n.x(index), dtype)


@converter("QuantizeLinear")
def quantize(n: Node) -> Variable:
    return _quantized(n, _numbers(n, 0), 1, type_name(n.attr("output_dtype", 0)) or "uint8")


def _quantized(n: Node, x: Variable, scale: int, dtype: str = "") -> Variable:
    """x as integers of the type of the zero point, else of the given one; scale: the index of this input, which the zero point
    follows."""
    import ml_dtypes

    if n.has(scale + 1):
        array = n.array(scale + 1)
        dtype = n.x(scale + 1).dtype if array is None else array.dtype.name
    if dtype not in ("int8", "uint8", "int16", *WIDER):
        raise Unsupported(f"numbers that are quantized to {dtype}")
    limits = ml_dtypes.iinfo(dtype)
    made = n.op("elementwise_div", x, _for_elements(n, scale, x))
    # A float32 that is too large to be rounded so is beyond all limits.
    made = n.scale(n.scale(made, 1, _ROUNDING), 1, -_ROUNDING)
    if n.has(scale + 1):
        made = n.add(made, _for_elements(n, scale + 1, x))
    return n.cast(n.op("clip", made, min=float(limits.min), max=float(limits.max)), WIDER.get(dtype, dtype))


def _for_elements(n: Node, index: int, x: Variable) -> Variable:
    """A scale or a zero point in float32, so that it is broadcast to x: one, or one for each place or block along an axis."""
    value, rank = _numbers(n, index), len(x.shape)
    if not value.shape or list(value.shape) == [1]:
        return n.reshape(value, [])
    axis, block = n.axis(n.attr("axis", 1), rank), n.attr("block_size", 0)
    if len(value.shape) == 1:
        return n.reshape(value, [-1 if i == axis else 1 for i in range(rank)])
    if not block:
        raise Unsupported(f"a scale of {len(value.shape)} axes without block_size")
    (count,) = n.require_static(x, axis, axis + 1)
    if block < 1 or not 0 <= value.shape[axis] * block - count < block:
        raise ProgramError(
            f"blocks of {block} elements: {count} need {-(-count // max(block, 1))} scales, not {value.shape[axis]}"
        )
    return n.emit("index_select", {"X": value, "Index": n.constant(np.arange(count) // block, "int64")}, {"dim": axis})


@converter("DequantizeLinear")
def dequantize(n: Node) -> Variable:
    x, number = _numbers(n, 0), n.attr("output_dtype", 0)
    made = n.sub(x, _for_elements(n, 2, x)) if n.has(2) else x
    return n.cast(n.mul(made, _for_elements(n, 1, x)), element_type(number) if number else n.x(1).dtype)


def _centered(n: Node, index: int, zero: int, dtype: str, axis: int) -> Variable:
    """An input minus its zero point: one, or one for each place along an axis."""
    x = _numbers(n, index, dtype)
    return n.sub(x, _along(n, _numbers(n, zero, dtype), axis, len(x.shape))) if n.has(zero) else x


def _along(n: Node, value: Variable, axis: int, rank: int) -> Variable:
    if len(value.shape) != 1:
        return value
    return n.reshape(value, [-1 if i == axis % rank else 1 for i in range(rank)] if value.shape[0] != 1 else [])


@converter("MatMulInteger")
def matmul_integer(n: Node) -> Variable:
    # float64 has all sums of 2^37 products of two bytes.
    return n.cast(n.op("matmul_v2", _centered(n, 0, 2, "float64", -2), _centered(n, 1, 3, "float64", -1)), "int32")


@converter("ConvInteger")
def conv_integer(n: Node) -> Variable:
    return n.cast(convolved(n, _centered(n, 0, 2, "float64", 1), _centered(n, 1, 3, "float64", 0)), "int32")


@converter("QLinearMatMul")
def quantized_matmul(n: Node) -> Variable:
    made = n.op("matmul_v2", _centered(n, 0, 2, "float32", -2), _centered(n, 3, 5, "float32", -1))
    rank = len(made.shape)
    scales = [_along(n, n.cast(n.x(index), "float32"), axis, max(rank, 1)) for index, axis in ((1, -2), (4, -1))]
    return _quantized(n, n.mul(made, n.mul(*scales)), 6)


@converter("QLinearConv")
def quantized_conv(n: Node) -> Variable:
    made = convolved(n, _centered(n, 0, 2, "float32", 1), _centered(n, 3, 5, "float32", 0))
    rank = len(made.shape)
    if n.has(8):
        made = n.add(made, _along(n, n.cast(n.x(8), "float32"), 1, rank))
    scale = n.mul(n.reshape(n.x(1), []), _along(n, n.x(4), 1, rank))
    return _quantized(n, n.mul(made, scale), 6)
