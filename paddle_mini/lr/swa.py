# SWALR: the learning rate of stochastic weight averaging.
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .._core import ProgramError
from ..errors import shown
from .plateau import ReduceOnPlateau
from .scheduler import LRScheduler, number, whole


class SWALR(LRScheduler):
    """learning_rate, a number or another schedule, for t < start; from there on the rate goes over to swa_lr within
    anneal_steps steps and stays: large enough for the parameters to move about, so that their average gains.

    Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization", 2018. strategy: "cos", by
    half a period of the cosine, or "linear". Begin the average there: ParameterAverage(..., Tail(start)). For cyclical
    rates take CyclicLR, and Latest(k, every=...) at the ends of the cycles.
    Example:
        >>> rate = pm.lr.SWALR(0.1, swa_lr=0.5, start=100, anneal_steps=10)
        >>> rate.step(110)
        >>> rate()
        0.5
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        swa_lr: float,
        start: int,
        anneal_steps: int = 10,
        strategy: str = "cos",
        last_epoch: int = -1,
    ):
        if isinstance(learning_rate, ReduceOnPlateau):
            raise ProgramError("SWALR: ReduceOnPlateau needs a metric at every step; give another schedule")
        self.learning_rate = (
            learning_rate if isinstance(learning_rate, LRScheduler) else number(self, "learning_rate", learning_rate, low=0.0)
        )
        self.swa_lr = number(self, "swa_lr", swa_lr, low=0.0)
        self.start = whole(self, "start", start, low=0)
        self.anneal_steps = whole(self, "anneal_steps", anneal_steps, low=0)
        if strategy not in ("cos", "linear"):
            raise ProgramError(f"SWALR: strategy is {shown(strategy)}, it must be 'cos' or 'linear'")
        self.strategy = strategy
        super().__init__(self.swa_lr, last_epoch)

    def get_lr(self) -> float:
        before = self._before(min(self.last_epoch, self.start))
        if self.last_epoch < self.start:
            return before
        if self.last_epoch >= self.start + self.anneal_steps:
            return self.swa_lr
        done = (self.last_epoch - self.start) / self.anneal_steps
        share = (1 - math.cos(math.pi * done)) / 2 if self.strategy == "cos" else done
        return before + share * (self.swa_lr - before)

    def _before(self, step: int) -> float:
        if not isinstance(self.learning_rate, LRScheduler):
            return self.learning_rate
        if self.learning_rate.last_epoch != step:
            self.learning_rate.step(step)
        return self.learning_rate()

    def state_dict(self) -> dict[str, Any]:
        inner = self.learning_rate
        return {**super().state_dict(), **({"SWALR_LR": inner.state_dict()} if isinstance(inner, LRScheduler) else {})}

    def set_state_dict(self, state: Mapping[str, Any]) -> None:
        if isinstance(self.learning_rate, LRScheduler):
            if "SWALR_LR" not in state:
                raise ProgramError("SWALR: the state has no 'SWALR_LR', that of the schedule inside")
            self.learning_rate.set_state_dict(state["SWALR_LR"])
        super().set_state_dict(state)
