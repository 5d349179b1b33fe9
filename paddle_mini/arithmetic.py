# Operators that Python's + - * / // % ** @ and < <= > >= append: elementwise_add and its kin, scale for plain numbers.
from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeGuard

import numpy as np

from . import dtypes
from ._core import ProgramError, printable
from .transaction import make_atomic

if TYPE_CHECKING:
    from .variable import Variable

    Operand: TypeAlias = "Variable | float | np.number[Any]"

# Hashing, `in` and list.index need identity, so `==` of variables cannot append an operator.
IDENTITY = "`==` compares variables by identity; layers.equal(x, y) and layers.not_equal(x, y) compare their elements"


def add(x: Variable, y: Operand) -> Variable:
    return _scale(x, 1.0, y) if _is_factor(y, x) else _binary("elementwise_add", x, as_operand(x, y))


def subtract(x: Variable, y: Operand) -> Variable:
    return _scale(x, 1.0, -float(y)) if _is_factor(y, x) else _binary("elementwise_sub", x, as_operand(x, y))


def subtract_from(x: Variable, y: Operand) -> Variable:
    return _scale(x, -1.0, y) if _is_factor(y, x) else _reflected("elementwise_sub", x, y)


def multiply(x: Variable, y: Operand) -> Variable:
    return _scale(x, y, 0.0) if _is_factor(y, x) else _binary("elementwise_mul", x, as_operand(x, y))


def divide(x: Variable, y: Operand) -> Variable:
    _require_quotients(x)
    if not _is_number(y):
        return _binary("elementwise_div", x, y)
    if y == 0:
        raise ProgramError(f"'{printable(x.name)}' is divided by zero")
    factor = 1.0 / float(y)
    exact = abs(factor) < 2.0**127 and _is_factor(factor, x)
    return _scale(x, factor, 0.0) if exact else _binary("elementwise_div", x, as_operand(x, y))


def divide_into(x: Variable, y: Operand) -> Variable:
    _require_quotients(x)
    return _reflected("elementwise_div", x, y)


def floor_divide(x: Variable, y: Operand) -> Variable:
    return _binary("elementwise_floordiv", x, as_operand(x, y))


def floor_divide_into(x: Variable, y: Operand) -> Variable:
    return _reflected("elementwise_floordiv", x, y)


def remainder(x: Variable, y: Operand) -> Variable:
    return _binary("elementwise_mod", x, as_operand(x, y))


def remainder_of(x: Variable, y: Operand) -> Variable:
    return _reflected("elementwise_mod", x, y)


def power(x: Variable, y: Operand) -> Variable:
    if not _is_number(y):
        return _binary("elementwise_pow", x, y)
    _require_exact(x, y)
    if not _is_factor(y, x):
        return _binary("elementwise_pow", x, as_operand(x, y))
    return append(x, "pow", {"X": x}, factor=float(y))


def power_of(x: Variable, y: Operand) -> Variable:
    return _reflected("elementwise_pow", x, y)


def less_than(x: Variable, y: Operand) -> Variable:
    return _binary("less_than", x, as_operand(x, y))


def less_equal(x: Variable, y: Operand) -> Variable:
    return _binary("less_equal", x, as_operand(x, y))


def greater_than(x: Variable, y: Operand) -> Variable:
    return _binary("greater_than", x, as_operand(x, y))


def greater_equal(x: Variable, y: Operand) -> Variable:
    return _binary("greater_equal", x, as_operand(x, y))


def matrix_multiply(x: Variable, y: Operand) -> Variable:
    return _binary("matmul_v2", x, y)


def negate(x: Variable) -> Variable:
    return _scale(x, -1.0, 0.0)


def truth(x: Variable) -> bool:
    raise ProgramError(
        f"'{printable(x.name)}' has no value while the program is built, so Python's if, and, or and not cannot "
        "ask it; layers.where chooses between values"
    )


def as_number(x: Variable) -> NoReturn:
    raise ProgramError(
        f"'{printable(x.name)}' has no value while the program is built, so it is not a number; "
        "exe.run(fetch_list=[...]) gives its value"
    )


def length(x: Variable) -> NoReturn:
    dims = list(x.shape)
    raise TypeError(f"'{printable(x.name)}' {dims} has no len(); its shape is x.shape, and layers.unbind splits it")


def advises(expression: str, advice: str) -> Callable[..., NoReturn]:
    """The method of an operator of Python that appends nothing; the error names the layers to use."""

    def refused(x: Variable, *others: Any) -> NoReturn:
        raise TypeError(f"'{printable(x.name)}' is a Variable, for which {expression} is not defined; here: {advice}")

    return refused


def as_array(x: Any, *args: Any, **kwargs: Any) -> Any:
    raise ProgramError(
        f"'{printable(x.name)}' has no value while the program is built, so NumPy cannot make an array of it; "
        "exe.run(fetch_list=[...]) gives one, and layers compute with variables"
    )


def is_truth(value: Any) -> bool:
    """Whether it is True or False, as the result of `==` of variables is."""
    return isinstance(value, (bool, np.bool_))


def _is_number(value: Any) -> TypeGuard[float]:
    if is_truth(value):
        raise ProgramError(f"an operand is {value}, it must be a Variable or a number; {IDENTITY}")
    if not isinstance(value, numbers.Real):
        return False
    try:
        float(value)
    except OverflowError:
        raise ProgramError("an operand is an integer beyond every float") from None
    return True


def _is_factor(value: Any, x: Any) -> TypeGuard[float]:
    """Whether it is a number that an attribute, a float32, holds without a loss in x's element type."""
    if not _is_number(value) or (x.dtype != "float64" and x.dtype not in dtypes.INTEGER_NAMES):
        return isinstance(value, numbers.Real)
    with np.errstate(over="ignore"):
        return float(value) != float(value) or float(np.float32(float(value))) == value


def _binary(op_type: str, x: Any, y: Any) -> Any:
    if not hasattr(y, "block"):
        return _no_variable(x, y)
    return append(x, op_type, {"X": x, "Y": y})


def _reflected(op_type: str, x: Any, y: Any) -> Any:
    return append(x, op_type, {"X": as_operand(x, y), "Y": x}) if _is_number(y) else _no_variable(x, y)


def as_operand(x: Any, y: Any) -> Any:
    """A number as a tensor of x's element type, which is broadcast to x; anything else unchanged."""
    if not _is_number(y):
        return y
    _require_exact(x, y)
    attrs = {"shape": [1] if x.shape else [], "dtype": x.dtype, "value": float(y)}
    if x.dtype == "float64" or x.dtype in dtypes.INTEGER_NAMES:  # `value` is a float32
        attrs["str_value"] = repr(float(y) if x.dtype == "float64" else int(y))
    number = append(x, "fill_constant", {}, **attrs)
    number.stop_gradient = True
    return number


def _no_variable(x: Any, y: Any) -> Any:
    if isinstance(y, np.ndarray):
        raise ProgramError(f"'{printable(x.name)}' meets a NumPy array: layers.assign(array) makes a variable of it")
    return NotImplemented


def _scale(x: Any, scale: float, bias: float) -> Any:
    if x.dtype == "bool":
        raise ProgramError(f"'{printable(x.name)}' is bool, whose elements are not numbers: cast it to float32 or int64 first")
    _require_exact(x, scale)
    _require_exact(x, bias)
    return append(x, "scale", {"X": x}, scale=float(scale), bias=float(bias))


def _require_quotients(x: Any) -> None:
    if x.dtype in dtypes.INTEGER_NAMES:
        raise ProgramError(f"'{printable(x.name)}' is {x.dtype}, a quotient may be a fraction: use //, or cast it to float32")


def _require_exact(x: Any, number: Any) -> None:
    # The kernel computes in x's dtype, where a fraction would be cut off.
    if x.dtype in dtypes.INTEGER_NAMES and not float(number).is_integer():
        raise ProgramError(f"'{printable(x.name)}' is {x.dtype} and the number is not whole: cast it to float32 first")


def append(x: Variable, op_type: str, inputs: Any, *extra_outputs: str, **attrs: Any) -> Variable:
    """The Out of an operator appended to the block that is being built in x's program; `more`: ports
    besides that get a variable."""
    program = x.block.program
    names = {port: program.new_name("tmp") for port in ("Out", *extra_outputs)}
    block = program.current_block()
    block.append_op(op_type, inputs, names, attrs)
    return block.var(names["Out"])


make_atomic(
    globals(),
    [
        "add",
        "subtract",
        "subtract_from",
        "multiply",
        "divide",
        "divide_into",
        "floor_divide",
        "floor_divide_into",
        "remainder",
        "remainder_of",
        "power",
        "power_of",
        "less_than",
        "less_equal",
        "greater_than",
        "greater_equal",
        "matrix_multiply",
        "negate",
        "append",
    ],
)
