# Lengths of averages in samples, epochs or fractions, converted to steps.
"""A length does not depend on the batch size, `every` and gradient accumulation: it is converted to steps
of the optimizer, and steps that are not averaged still count (Busbridge et al. 2023)."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any, TypeGuard

from .._core import ProgramError
from ..errors import shown


@dataclass(frozen=True, repr=False)
class Length:
    """A number of steps, or a part of the run so far.

    Example:
        >>> pm.averaging.Length(steps=100.0) == pm.steps(100)
        True
    """

    steps: float | None = None
    part: float | None = None

    def __repr__(self) -> str:
        return f"fraction({self.part:g})" if self.steps is None else f"steps({self.steps:g})"


Lengthy = int | float | Length


def steps(n: float) -> Length:
    """n steps of the optimizer: the same as the plain number.

    Raises ProgramError for a number that is not above 0.
    Example:
        >>> pm.averaging.Exponential(half_life=pm.steps(1000))
        Exponential(half_life=steps(1000))
    """
    return Length(steps=_positive("steps", "n", n))


def samples(n: float, batch_size: int) -> Length:
    """The steps of n samples in batches of batch_size, counting merged gradients as one step.

    Raises ProgramError for numbers that are not above 0.
    Example:
        >>> pm.samples(50000, batch_size=100)
        steps(500)
    """
    return Length(steps=_positive("samples", "n", n) / _positive("samples", "batch_size", batch_size))


def epochs(n: float, steps_per_epoch: int) -> Length:
    """The steps of n epochs.

    steps_per_epoch: the optimizer's steps in an epoch. Raises ProgramError for numbers that are not above 0.
    Example:
        >>> pm.epochs(2, steps_per_epoch=500)
        steps(1000)
    """
    return Length(steps=_positive("epochs", "n", n) * _positive("epochs", "steps_per_epoch", steps_per_epoch))


def fraction(part: float, total_steps: int | None = None) -> Length:
    """A fraction of total_steps steps; without total_steps, of the steps so far: an average that grows with the run.

    part: above 0 and below 1. Raises ProgramError for another one.
    Example:
        >>> pm.fraction(0.1, total_steps=20000)
        steps(2000)
        >>> pm.averaging.Exponential(half_life=pm.fraction(0.05))
        Exponential(half_life=fraction(0.05))
    """
    if _positive("fraction", "part", part) >= 1:
        raise ProgramError(f"fraction({shown(part)}): the part is below 1")
    if total_steps is None:
        return Length(part=float(part))
    return Length(steps=part * _positive("fraction", "total_steps", total_steps))


def steps_of(what: str, length: Any, least: float = 1) -> float:
    """A number or Length as steps; ProgramError naming `what` otherwise, or when it is less than `least`."""
    if isinstance(length, Length) and length.steps is None:
        raise ProgramError(f"{what}: a part of the run so far has no fixed length; write fraction({length.part}, total_steps)")
    number: Any = length.steps if isinstance(length, Length) else length
    if not is_number(number) or number < least:
        raise ProgramError(f"{what} is {shown(length)}, it must be at least {least:g} steps")
    return float(number)


def whole_steps(what: str, length: Any, least: int = 1) -> int:
    """The same, rounded to an integer for a Length; a plain number must be whole."""
    number = steps_of(what, length, least)
    if not isinstance(length, Length) and (isinstance(length, bool) or not isinstance(length, numbers.Integral)):
        raise ProgramError(f"{what} is {shown(length)}, it must be an integer number of steps, at least {least}")
    if number >= 2**62:
        raise ProgramError(f"{what} is {shown(length)}, it must be below 2**62")
    return max(least, round(number))


def is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _positive(function: str, name: str, value: Any) -> float:
    if not is_number(value) or value <= 0:
        raise ProgramError(f"{function}(): {name} is {shown(value)}, it must be a number above 0")
    return float(value)
