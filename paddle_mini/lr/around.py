# ScheduleAround: base class of schedules that give the rates of another one for a part of the steps.
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core import ProgramError, printable
from .plateau import ReduceOnPlateau
from .scheduler import LRScheduler, number


class ScheduleAround(LRScheduler):
    """learning_rate: the other schedule, or a fixed rate. inner_key: that of the other schedule's state in state_dict()."""

    inner_key: str

    def __init__(self, learning_rate: float | LRScheduler, first: float, last_epoch: int):
        """first: the rate that the formula begins from."""
        if isinstance(learning_rate, ReduceOnPlateau):
            raise ProgramError(f"{type(self).__name__}: ReduceOnPlateau needs a metric at every step; give another schedule")
        self.learning_rate = (
            learning_rate if isinstance(learning_rate, LRScheduler) else number(self, "learning_rate", learning_rate, low=0.0)
        )
        super().__init__(first, last_epoch)

    def _inner(self, step: int) -> float:
        """The other schedule's rate at a step of its own, or the fixed rate."""
        if not isinstance(self.learning_rate, LRScheduler):
            return self.learning_rate
        if self.learning_rate.last_epoch != step:
            self.learning_rate.step(step)
        return self.learning_rate()

    def state_dict(self) -> dict[str, Any]:
        inner = self.learning_rate
        return {**super().state_dict(), **({self.inner_key: inner.state_dict()} if isinstance(inner, LRScheduler) else {})}

    def set_state_dict(self, state: Mapping[str, Any]) -> None:
        own = self.values_of(state)
        if isinstance(self.learning_rate, LRScheduler):
            if self.inner_key not in state:
                raise ProgramError(
                    f"{type(self).__name__}: the state has no '{printable(self.inner_key)}', that of the schedule inside"
                )
            self.learning_rate.set_state_dict(state[self.inner_key])
        self.take(own)
