# LinearWarmup: a line, and then another schedule.
from __future__ import annotations

from .._core import ProgramError
from ..errors import shown
from .around import ScheduleAround
from .scheduler import LRScheduler, number, whole


class LinearWarmup(ScheduleAround):
    """start_lr + (end_lr − start_lr) t / warmup_steps for t < warmup_steps; then learning_rate, a number or
    another schedule, which begins its own steps there.

    Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 2.2.
    Example:
        >>> rate = pm.lr.LinearWarmup(pm.lr.StepDecay(0.8, step_size=30), warmup_steps=10, start_lr=0.0, end_lr=0.8)
        >>> rate.step(5)
        >>> rate()
        0.4
    """

    inner_key = "LinearWarmup_LR"

    def __init__(
        self, learning_rate: float | LRScheduler, warmup_steps: int, start_lr: float, end_lr: float, last_epoch: int = -1
    ):
        self.warmup_steps = whole(self, "warmup_steps", warmup_steps)
        self.start_lr = number(self, "start_lr", start_lr, low=0.0)
        self.end_lr = number(self, "end_lr", end_lr, low=0.0)
        if self.end_lr <= self.start_lr:
            raise ProgramError(f"LinearWarmup: end_lr {shown(end_lr)} must be above start_lr {shown(start_lr)}")
        super().__init__(learning_rate, self.start_lr, last_epoch)

    def get_lr(self) -> float:
        if self.last_epoch < self.warmup_steps:
            return self.start_lr + (self.end_lr - self.start_lr) * self.last_epoch / self.warmup_steps
        return self._inner(self.last_epoch - self.warmup_steps)
