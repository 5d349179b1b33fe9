# NumPy functions of variables: those that are Python's operators append one, others name the layer that computes the same.
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic
from ._core import ProgramError, printable

if TYPE_CHECKING:
    from .variable import Variable

Operator = Callable[[Any, Any], Any]

# NumPy passes `array + variable` and `number + variable` on as a ufunc: with the variable first, and second.
_OPERATORS: Mapping[str, tuple[Operator, Operator]] = {
    "add": (arithmetic.add, arithmetic.add),
    "subtract": (arithmetic.subtract, arithmetic.subtract_from),
    "multiply": (arithmetic.multiply, arithmetic.multiply),
    "divide": (arithmetic.divide, arithmetic.divide_into),
    "true_divide": (arithmetic.divide, arithmetic.divide_into),
    "floor_divide": (arithmetic.floor_divide, arithmetic.floor_divide_into),
    "remainder": (arithmetic.remainder, arithmetic.remainder_of),
    "power": (arithmetic.power, arithmetic.power_of),
    "matmul": (arithmetic.matrix_multiply, arithmetic.matrix_multiply),
    "less": (arithmetic.less_than, arithmetic.greater_than),
    "less_equal": (arithmetic.less_equal, arithmetic.greater_equal),
    "greater": (arithmetic.greater_than, arithmetic.less_than),
    "greater_equal": (arithmetic.greater_equal, arithmetic.less_equal),
}
# Layers that have another name than NumPy's function.
_LAYERS: Mapping[str, str] = {
    **{name: f"elementwise_{name[:3]}" for name in ("maximum", "minimum")},
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: f"reduce_{name}" for name in ("sum", "max", "min", "prod", "all", "any")},
    "mean": "reduce_mean",
    "absolute": "abs",
    "fmax": "elementwise_fmax",
    "fmin": "elementwise_fmin",
    "float_power": "elementwise_pow",
    "concatenate": "concat",
    "dot": "matmul",
    "expand_dims": "unsqueeze",
    "amax": "reduce_max",
    "amin": "reduce_min",
    "rint": "round",
    "bitwise_invert": "bitwise_not",
    "invert": "bitwise_not",
    "take": "gather",
}


def ufunc(x: Variable, function: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """__array_ufunc__ of a variable."""
    operators = _OPERATORS.get(function.__name__)
    if operators is None or method != "__call__" or kwargs or len(inputs) != 2:
        raise _advice(x, function.__name__)
    first, second = inputs
    if hasattr(first, "block"):
        return operators[0](first, _plain(second))
    return operators[1](second, _plain(first))


def function(x: Variable, called: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    """__array_function__ of a variable."""
    if called is np.shape and not kwargs:
        return x.shape
    raise _advice(x, called.__name__)


def _plain(value: Any) -> Any:
    scalar = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)  # comparisons pass arrays
    return value.item() if scalar else value


def _advice(x: Variable, name: str) -> ProgramError:
    from . import layers

    layer = _LAYERS.get(name, name)
    advice = f"layers.{layer} appends an operator that does" if layer in layers.__all__ else "layers compute with variables"
    return ProgramError(
        f"'{printable(x.name)}' has no value while the program is built, so np.{name} cannot compute with it; {advice}"
    )
