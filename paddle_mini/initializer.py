# Initializers: operators in the startup program that give a variable its first value.
"""An object of these classes is the argument initializer of a ParamAttr, or is given as param_attr or bias_attr itself."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from . import dtypes
from ._core import ProgramError, ShapeError, printable
from .block import Block
from .errors import shown
from .feeds import unmasked
from .operator import Operator
from .renamed import show_public
from .variable import Variable

__all__ = ["MSRA", "Constant", "Initializer", "Normal", "NumpyArrayInitializer", "Uniform", "Xavier"]


class Initializer(ABC):
    """Called with a variable and a block, appends the operator that gives the variable a value.

    Example:
        >>> y = pm.layers.fc(pm.layers.data("x", [-1, 8]), 4, param_attr=pm.initializer.Normal(scale=0.02))
    """

    @abstractmethod
    def __call__(self, var: Variable, block: Block) -> Operator:
        """Appends the operator to the block and returns it."""


class Constant(Initializer):
    """Every element is `value`.

    Example:
        >>> w = pm.layers.create_parameter([2], attr=pm.initializer.Constant(0.5))
        >>> pm.Executor().run(pm.default_startup_program(), fetch_list=[w])[0]
        array([0.5, 0.5], dtype=float32)
    """

    def __init__(self, value: float = 0.0):
        self.value = value

    def __call__(self, var: Variable, block: Block) -> Operator:
        return block.append_op("fill_constant", {}, {"Out": var}, constant_attrs(var.shape, var.dtype, self.value))


def _require_finite(initializer: str, **values: float) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
            raise ProgramError(f"{initializer}: {name} is {shown(value)}, it must be a finite number")


class Uniform(Initializer):
    """Elements from the uniform distribution over [low, high).

    seed 0: the startup program's random_seed if it has one, else the executor's generator.
    Example:
        >>> w = pm.layers.create_parameter([1000], attr=pm.initializer.Uniform(-0.1, 0.1, seed=1))
        >>> bool(abs(pm.Executor().run(pm.default_startup_program(), fetch_list=[w])[0]).max() <= 0.1)
        True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, seed: int = 0):
        _require_finite("Uniform", low=low, high=high)
        if low > high:
            raise ProgramError(f"Uniform: low {low} is above high {high}")
        self.low, self.high, self.seed = low, high, seed

    def __call__(self, var: Variable, block: Block) -> Operator:
        return block.append_op(
            "uniform_random", {}, {"Out": var}, _random(var, block, self.seed, min=float(self.low), max=float(self.high))
        )


class Normal(Initializer):
    """Elements from the normal distribution with mean `loc` and standard deviation `scale`.

    seed: as in Uniform.
    Example:
        >>> w = pm.layers.create_parameter([8, 4], attr=pm.initializer.Normal(scale=0.02, seed=1))
    """

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0):
        _require_finite("Normal", loc=loc, scale=scale)
        if scale < 0:
            raise ProgramError(f"Normal: scale {scale} is negative")
        self.loc, self.scale, self.seed = loc, scale, seed

    def __call__(self, var: Variable, block: Block) -> Operator:
        return block.append_op(
            "gaussian_random", {}, {"Out": var}, _random(var, block, self.seed, mean=float(self.loc), std=float(self.scale))
        )


class Xavier(Initializer):
    """Keeps the variance between layers: uniform in ±√(6 / (fan_in + fan_out)), or normal with
    standard deviation √(2 / (fan_in + fan_out)).

    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks",
    AISTATS 2010. fan_in and fan_out: taken from the shape when None. seed: as in Uniform.
    Example:
        >>> w = pm.layers.create_parameter([8, 4], attr=pm.initializer.Xavier(uniform=False))
    """

    def __init__(self, uniform: bool = True, fan_in: float | None = None, fan_out: float | None = None, seed: int = 0):
        self.uniform, self.fan_in, self.fan_out, self.seed = uniform, fan_in, fan_out, seed

    def __call__(self, var: Variable, block: Block) -> Operator:
        fan_in, fan_out = fans(var.shape)
        fan_in = fan_in if self.fan_in is None else self.fan_in
        fan_out = fan_out if self.fan_out is None else self.fan_out
        return _spread(self.uniform, fan_in + fan_out, self.seed)(var, block)


class MSRA(Initializer):
    """Keeps the variance under relu: uniform in ±√(6 / fan_in), or normal with standard deviation
    √(2 / fan_in).

    He et al., "Delving deep into rectifiers", ICCV 2015. fan_in: taken from the shape when None.
    seed: as in Uniform.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 32, 32])
        >>> h = pm.layers.conv2d(image, 16, 3, act="relu", param_attr=pm.initializer.MSRA(uniform=False))
    """

    def __init__(self, uniform: bool = True, fan_in: float | None = None, seed: int = 0):
        self.uniform, self.fan_in, self.seed = uniform, fan_in, seed

    def __call__(self, var: Variable, block: Block) -> Operator:
        fan_in = fans(var.shape)[0] if self.fan_in is None else self.fan_in
        return _spread(self.uniform, fan_in, self.seed)(var, block)


class NumpyArrayInitializer(Initializer):
    """The elements of an array, which become part of the startup program.

    value: an array of the shape of the variable; ShapeError for another one.
    Example:
        >>> w = pm.layers.create_parameter([2], attr=pm.initializer.NumpyArrayInitializer(np.array([1, 2], "float32")))
        >>> pm.Executor().run(pm.default_startup_program(), fetch_list=[w])[0]
        array([1., 2.], dtype=float32)
    """

    def __init__(self, value: Any):
        self.value = np.asarray(unmasked(value, "NumpyArrayInitializer: value"))

    def __call__(self, var: Variable, block: Block) -> Operator:
        if self.value.shape != tuple(var.shape):
            raise ShapeError(f"'{printable(var.name)}' has shape {list(var.shape)}, its initial value {list(self.value.shape)}")
        return block.append_op("assign_value", {}, {"Out": var}, value_attrs(self.value, var.dtype))


def constant_attrs(shape: Any, dtype: str, value: float) -> dict[str, Any]:
    """The attributes of fill_constant. Its `value` is a float32; where that is not exact enough,
    `str_value` has the number in digits."""
    if not isinstance(value, numbers.Real):
        raise ProgramError(f"value is {shown(value)}, it must be a number")
    if dtype in dtypes.INTEGER_NAMES:
        limits = np.iinfo(dtype)
        if value != value or not limits.min <= value <= limits.max or value != int(value):
            raise ProgramError(f"value is {shown(value)}, which is not a valid {dtype}")
    attrs: dict[str, Any] = {"shape": shape, "dtype": dtype, "value": float(value)}
    if dtype in ("float64", "int32", "int64") and float(np.float32(value)) != value:
        attrs["str_value"] = repr(value.item() if isinstance(value, np.generic) else value)
    return attrs


def value_attrs(value: np.ndarray, dtype: str) -> dict[str, Any]:
    """The attributes of assign_value for an array: its elements lie in the list of their type."""
    lists = {
        "bool": "bool_values",
        "float32": "fp32_values",
        "float64": "fp64_values",
        "int32": "int32_values",
        "int64": "int64_values",
    }
    if dtype not in lists:
        raise ProgramError(f"assign_value has no values of {dtype}; it has {', '.join(lists)}")
    items = value.astype(dtype).ravel().tolist()
    if dtype == "bool":
        items = [int(item) for item in items]
    return {"shape": list(value.shape), "dtype": dtype, lists[dtype]: items}


def fans(shape: tuple[int, ...]) -> tuple[float, float]:
    """(fan_in, fan_out): a matrix has one row an input; a filter [out, in, window...] counts its
    window."""
    if len(shape) < 2:
        size = float(shape[0]) if shape else 1.0
        return size, size
    if len(shape) == 2:
        return float(shape[0]), float(shape[1])
    window = math.prod(shape[2:])
    return float(shape[1] * window), float(shape[0] * window)


def _spread(uniform: bool, fan: float, seed: int) -> Initializer:
    fan = max(fan, 1.0)  # a parameter without elements
    if uniform:
        limit = math.sqrt(6.0 / fan)
        return Uniform(-limit, limit, seed)
    return Normal(0.0, math.sqrt(2.0 / fan), seed)


def _random(var: Variable, block: Block, seed: int, **attrs: float) -> dict[str, Any]:
    if var.dtype not in dtypes.FLOAT_NAMES:
        raise ProgramError(f"'{printable(var.name)}' is {var.dtype}; random initializers are for float variables")
    return {"shape": var.shape, "dtype": var.dtype, "seed": seed or block.program.next_seed(), **attrs}


show_public(globals())
