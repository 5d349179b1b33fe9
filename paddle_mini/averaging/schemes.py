# Averages of parameters: the schemes, each a small value.
"""A scheme says how much the newest parameters weigh in their average, step by step (operator
`average_weight`); the averaging itself (`parameter_average`) is the same for all. See
optimizer.ParameterAverage, which puts both into a program.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Union

from .._core import ProgramError


@dataclass(frozen=True)
class Window:
    """The mean of the newest parameters: of at least `size` and fewer than 2 `size` steps.

    Two generations are kept. When the current one has `size` members it becomes the previous one,
    so every number averaged is as small as the parameters themselves and none is lost against a
    large sum. Costs two floats a parameter.
    """

    size: int

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int) or not 1 <= self.size < 2**62:
            raise ProgramError(f"Window({self.size!r}): the size is a whole number of steps, at least 1")

    def attrs(self) -> Dict[str, Any]:
        return {"scheme": "window", "window_size": self.size}


@dataclass(frozen=True)
class Uniform:
    """The mean over all steps (Ruppert 1988; Polyak and Juditsky 1992). One float a parameter."""

    def attrs(self) -> Dict[str, Any]:
        return {"scheme": "uniform"}


@dataclass(frozen=True)
class Exponential:
    """Each step back weighs `decay` times as much as the one after it; the weights add up to 1 from
    the first step on (the bias correction of Kingma and Ba 2015, section 3). One float a parameter.
    """

    decay: float

    def __post_init__(self) -> None:
        if not isinstance(self.decay, (int, float)) or not 0 <= self.decay < 1:
            raise ProgramError(f"Exponential({self.decay!r}): the decay is at least 0 and below 1")

    def attrs(self) -> Dict[str, Any]:
        return {"scheme": "exponential", "decay": float(self.decay)}


Scheme = Union[Window, Uniform, Exponential]
