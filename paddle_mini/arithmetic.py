# Operators that Python's + - * / @ append: elementwise_add and its kin, scale for plain numbers.
from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from . import dtypes
from ._core import ProgramError


def add(x: Any, y: Any) -> Any:
    return _scale(x, 1.0, y) if _is_number(y) else _binary("elementwise_add", x, y)


def subtract(x: Any, y: Any) -> Any:
    return _scale(x, 1.0, -float(y)) if _is_number(y) else _binary("elementwise_sub", x, y)


def subtract_from(x: Any, y: Any) -> Any:
    return _scale(x, -1.0, y) if _is_number(y) else _no_variable(x, y)


def multiply(x: Any, y: Any) -> Any:
    return _scale(x, y, 0.0) if _is_number(y) else _binary("elementwise_mul", x, y)


def divide(x: Any, y: Any) -> Any:
    if not _is_number(y):
        return _binary("elementwise_div", x, y)
    if y == 0:
        raise ProgramError(f"'{x.name}' is divided by zero")
    return _scale(x, 1.0 / float(y), 0.0)


def divide_into(x: Any, y: Any) -> Any:
    if not _is_number(y):
        return _no_variable(x, y)
    number = _append(x, "fill_constant", {}, shape=[1], dtype=x.dtype, value=float(y))
    number.stop_gradient = True
    return _append(x, "elementwise_div", {"X": number, "Y": x}, axis=-1)


def matrix_multiply(x: Any, y: Any) -> Any:
    return _binary("matmul_v2", x, y)


def negate(x: Any) -> Any:
    return _scale(x, -1.0, 0.0)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real)


def _binary(op_type: str, x: Any, y: Any) -> Any:
    if not hasattr(y, "block"):
        return _no_variable(x, y)
    return _append(x, op_type, {"X": x, "Y": y})


def _no_variable(x: Any, y: Any) -> Any:
    if isinstance(y, np.ndarray):
        raise ProgramError(f"'{x.name}' meets a NumPy array: layers.assign(array) makes a variable of it")
    return NotImplemented


def _scale(x: Any, scale: float, bias: float) -> Any:
    # The kernel computes in x's dtype, where a fraction would be cut off.
    if x.dtype in dtypes.INTEGER_NAMES and not (float(scale).is_integer() and float(bias).is_integer()):
        raise ProgramError(f"'{x.name}' is {x.dtype} and the number is not whole: cast it to float32 first")
    return _append(x, "scale", {"X": x}, scale=float(scale), bias=float(bias))


def _append(x: Any, op_type: str, inputs: Any, **attrs: Any) -> Any:
    program = x.block.program
    name = program.new_name("tmp")
    block = program.current_block()
    block.append_op(op_type, inputs, {"Out": name}, attrs)
    return block.var(name)
