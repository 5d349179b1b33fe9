# Schedules that are constant between steps: PiecewiseDecay, MultiStepDecay, StepDecay.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core import ProgramError
from ..errors import shown
from .scheduler import LRScheduler, number, policy, rising, segments, whole


class PiecewiseDecay(LRScheduler):
    """values[i] while boundaries[i − 1] ≤ t < boundaries[i]: one value more than boundaries.

    Example:
        >>> rate = pm.lr.PiecewiseDecay(boundaries=[100, 200], values=[0.1, 0.01, 0.001])
        >>> rate.step(150)
        >>> rate()
        0.01
    """

    def __init__(self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1):
        self.boundaries = rising(self, "boundaries", boundaries)
        if not isinstance(values, (list, tuple)) or len(values) != len(self.boundaries) + 1:
            raise ProgramError(
                f"PiecewiseDecay: values is {shown(values)}, it must be a list of "
                f"{len(self.boundaries) + 1} numbers, one more than boundaries"
            )
        self.values = [number(self, "values", value, low=0.0) for value in values]
        super().__init__(self.values[0], last_epoch)

    def get_lr(self) -> float:
        return self.values[sum(self.last_epoch >= boundary for boundary in self.boundaries)]

    def config_values(self) -> dict[str, Any]:
        return segments(self.boundaries, self.values, self.shift)


class MultiStepDecay(LRScheduler):
    """η gamma^n after n of the milestones.

    Example:
        >>> rate = pm.lr.MultiStepDecay(0.8, milestones=[100, 200], gamma=0.5)
        >>> rate.step(150)
        >>> rate()
        0.4
    """

    def __init__(self, learning_rate: float, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1):
        self.milestones = rising(self, "milestones", milestones)
        self.gamma = number(self, "gamma", gamma, above=0.0)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        return self.base_lr * self.gamma ** sum(self.last_epoch >= milestone for milestone in self.milestones)

    def config_values(self) -> dict[str, Any]:
        rates = [self.base_lr * self.gamma**passed for passed in range(len(self.milestones) + 1)]
        return segments(self.milestones, rates, self.shift)


class StepDecay(LRScheduler):
    """η gamma^⌊t / step_size⌋.

    Example:
        >>> rate = pm.lr.StepDecay(0.8, step_size=30, gamma=0.5)
        >>> rate.step(60)
        >>> rate()
        0.2
    """

    def __init__(self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size = whole(self, "step_size", step_size)
        self.gamma = number(self, "gamma", gamma, above=0.0)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        return self.base_lr * self.gamma ** (self.last_epoch // self.step_size)

    def config_values(self) -> dict[str, Any]:
        fallen, rest = divmod(self.shift, self.step_size)
        if rest:
            raise ProgramError(
                f"StepDecay: the policy DiscExp of the C library falls at updates {self.step_size}, "
                f"{2 * self.step_size}, …, this schedule at others; write MultiStepDecay"
            )
        return policy("DiscExp", "discexp_lr", self.base_lr * self.gamma**fallen, self.gamma, self.step_size)
