# SWALR: the learning rate of stochastic weight averaging.
from __future__ import annotations

import math

from .._core import ProgramError
from ..errors import shown
from .around import ScheduleAround
from .scheduler import LRScheduler, number, whole


class SWALR(ScheduleAround):
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

    inner_key = "SWALR_LR"

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        swa_lr: float,
        start: int,
        anneal_steps: int = 10,
        strategy: str = "cos",
        last_epoch: int = -1,
    ):
        self.swa_lr = number(self, "swa_lr", swa_lr, low=0.0)
        self.start = whole(self, "start", start, low=0)
        self.anneal_steps = whole(self, "anneal_steps", anneal_steps, low=0)
        if strategy not in ("cos", "linear"):
            raise ProgramError(f"SWALR: strategy is {shown(strategy)}, it must be 'cos' or 'linear'")
        self.strategy = strategy
        super().__init__(learning_rate, self.swa_lr, last_epoch)

    def get_lr(self) -> float:
        before = self._inner(min(self.last_epoch, self.start))
        if self.last_epoch < self.start:
            return before
        if self.last_epoch >= self.start + self.anneal_steps:
            return self.swa_lr
        done = (self.last_epoch - self.start) / self.anneal_steps
        share = (1 - math.cos(math.pi * done)) / 2 if self.strategy == "cos" else done
        return before + share * (self.swa_lr - before)
