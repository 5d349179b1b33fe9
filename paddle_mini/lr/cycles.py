# Schedules that rise and fall in cycles.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._core import ProgramError
from ..errors import shown
from .scheduler import LRScheduler, callable_of, number, one_of, whole


class OneCycleLR(LRScheduler):
    """Rises from max_learning_rate / divide_factor to max_learning_rate within a share phase_pct of
    total_steps, then falls to end_learning_rate, where it stays.

    anneal_strategy: along half a cosine ("cos") or a line ("linear"). three_phase: falls as fast as it
    rose to where it began, and then to end_learning_rate. Smith and Topin, "Super-Convergence", 2019.
    Example:
        >>> rate = pm.lr.OneCycleLR(0.5, total_steps=1000, phase_pct=0.3)
        >>> rate.step(299)
        >>> rate()
        0.5
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
    ):
        top = number(self, "max_learning_rate", max_learning_rate, low=0.0)
        total = whole(self, "total_steps", total_steps, low=2)
        begin = top / number(self, "divide_factor", divide_factor, above=0.0)
        end = number(self, "end_learning_rate", end_learning_rate, low=0.0)
        share = number(self, "phase_pct", phase_pct, above=0.0)
        rise = share * total - 1
        self.anneal_strategy = one_of(self, "anneal_strategy", anneal_strategy, ["cos", "linear"])
        self.points = [(0.0, begin), (rise, top), (total - 1.0, end)]
        """(step, rate) between which the rate moves."""
        if three_phase:
            self.points.insert(2, (2 * rise, begin))
        if any(after[0] <= before[0] for before, after in zip(self.points, self.points[1:])):
            raise ProgramError(f"OneCycleLR: phase_pct {shown(phase_pct)} of {total} steps leaves a phase without a step")
        super().__init__(begin, last_epoch)

    def get_lr(self) -> float:
        for (first, begin), (last, end) in zip(self.points, self.points[1:]):
            if self.last_epoch <= last:
                done = (self.last_epoch - first) / (last - first)
                if self.anneal_strategy == "cos":
                    done = (1 - math.cos(math.pi * done)) / 2
                return begin + (end - begin) * done
        return self.points[-1][1]


class CyclicLR(LRScheduler):
    """Rises in a line from base_learning_rate to max_learning_rate in step_size_up steps and falls back in
    step_size_down (None: as many), again and again.

    mode: "triangular": always as high; "triangular2": half as high each time; "exp_range": the height
    times exp_gamma^t. scale_fn: a factor for the height instead, of the number of the cycle, from 1
    (scale_mode="cycle"), or of t ("iterations"). Smith, "Cyclical Learning Rates for Training Neural
    Networks", WACV 2017.
    Example:
        >>> rate = pm.lr.CyclicLR(0.1, 0.5, step_size_up=100)
        >>> rate.step(100)
        >>> rate()
        0.5
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[Any], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ):
        self.max_lr = number(self, "max_learning_rate", max_learning_rate, low=0.0)
        self.step_size_up = whole(self, "step_size_up", step_size_up)
        down = step_size_up if step_size_down is None else step_size_down
        self.step_size_down = whole(self, "step_size_down", down)
        self.mode = one_of(self, "mode", mode, ["triangular", "triangular2", "exp_range"])
        self.exp_gamma = number(self, "exp_gamma", exp_gamma, above=0.0)
        self.scale_fn = None if scale_fn is None else callable_of(self, "scale_fn", scale_fn)
        self.scale_mode = one_of(self, "scale_mode", scale_mode, ["cycle", "iterations"])
        super().__init__(base_learning_rate, last_epoch)

    def get_lr(self) -> float:
        cycle, step = divmod(self.last_epoch, self.step_size_up + self.step_size_down)
        up = step <= self.step_size_up
        height = step / self.step_size_up if up else 1 - (step - self.step_size_up) / self.step_size_down
        return self.base_lr + (self.max_lr - self.base_lr) * height * self._scale(cycle + 1)

    def _scale(self, cycle: int) -> float:
        if self.scale_fn is not None:
            return self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.mode == "exp_range":
            return self.exp_gamma**self.last_epoch
        return 0.5 ** (cycle - 1) if self.mode == "triangular2" else 1.0


class CosineAnnealingWarmRestarts(LRScheduler):
    """eta_min + (η − eta_min)(1 + cos(π s / T)) / 2, s steps after the last restart: the first T is T_0,
    each next one T_mult times as long.

    Loshchilov and Hutter, "SGDR", ICLR 2017.
    Example:
        >>> rate = pm.lr.CosineAnnealingWarmRestarts(0.8, T_0=10, T_mult=2)
        >>> rate.step(30)
        >>> rate()
        0.8
    """

    def __init__(self, learning_rate: float, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_0, self.T_mult = whole(self, "T_0", T_0), whole(self, "T_mult", T_mult)
        self.eta_min = number(self, "eta_min", eta_min, low=0.0)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        step, length = self.last_epoch, self.T_0
        if self.T_mult == 1:
            step %= length
        while step >= length:
            step, length = step - length, length * self.T_mult
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * step / length)) / 2
