# Schedules with a formula for the rate after t steps.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._core import ProgramError
from .scheduler import LRScheduler, callable_of, inverse_power, number, policy, whole


class NoamDecay(LRScheduler):
    """η d_model^−½ min(t^−½, t warmup_steps^−1.5): rises in a line, then falls with the root.

    Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 5.3. At t = 0 the rate is 0.
    Example:
        >>> rate = pm.lr.NoamDecay(d_model=512, warmup_steps=4000)
        >>> rate.step(4000)
        >>> round(rate(), 6)
        0.000699
    """

    def __init__(self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1):
        self.d_model = whole(self, "d_model", d_model)
        self.warmup_steps = whole(self, "warmup_steps", warmup_steps)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        rising_part = self.last_epoch * self.warmup_steps**-1.5
        falling_part = 1.0 if self.last_epoch == 0 else self.last_epoch**-0.5
        return self.base_lr * self.d_model**-0.5 * min(falling_part, rising_part)

    def config_values(self) -> dict[str, Any]:
        if self.shift:
            raise ProgramError(
                "NoamDecay: the first update of the C library is step 1 of this schedule, which is at "
                f"step {self.last_epoch}; go there with step(1)"
            )
        fields = {"learning_rate": self.base_lr, "d_model": self.d_model, "warmup_steps": self.warmup_steps}
        return {"lr_policy": "Noam", "noam_lr": fields}


class NaturalExpDecay(LRScheduler):
    """η exp(−gamma t).

    Example:
        >>> rate = pm.lr.NaturalExpDecay(0.8, gamma=0.1)
        >>> rate.step(3)
        >>> round(rate(), 4)
        0.5927
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1):
        self.gamma = number(self, "gamma", gamma, low=0.0)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)

    def config_values(self) -> dict[str, Any]:
        rate = self.base_lr * math.exp(-self.gamma * self.shift)
        return policy("Exp", "exp_lr", rate, math.exp(-1 if self.gamma else 0), 1 / (self.gamma or 1))


class InverseTimeDecay(LRScheduler):
    """η / (1 + gamma t).

    Example:
        >>> rate = pm.lr.InverseTimeDecay(0.8, gamma=1.0)
        >>> rate.step(3)
        >>> rate()
        0.2
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1):
        self.gamma = number(self, "gamma", gamma, low=0.0)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        return self.base_lr / (1.0 + self.gamma * self.last_epoch)

    def config_values(self) -> dict[str, Any]:
        return inverse_power(self, self.base_lr, self.gamma, 1.0, self.shift)


class PolynomialDecay(LRScheduler):
    """(η − end_lr)(1 − min(t, S) / S)^power + end_lr with S = decay_steps; with `cycle`, S is the next
    multiple of decay_steps instead, so the rate rises again and again.

    Example:
        >>> rate = pm.lr.PolynomialDecay(0.8, decay_steps=100, end_lr=0.0, power=2.0)
        >>> rate.step(50)
        >>> rate()
        0.2
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
    ):
        self.decay_steps = whole(self, "decay_steps", decay_steps)
        self.end_lr = number(self, "end_lr", end_lr, low=0.0)
        self.power = number(self, "power", power, above=0.0)
        self.cycle = bool(cycle)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        t, steps = self.last_epoch, self.decay_steps
        if self.cycle:
            steps *= max(1, -(-t // steps))
        return (self.base_lr - self.end_lr) * (1 - min(t, steps) / steps) ** self.power + self.end_lr

    def config_values(self) -> dict[str, Any]:
        left = self.decay_steps - self.shift
        if not self.cycle and self.power == 1 and self.base_lr >= self.end_lr:
            slope = (self.base_lr - self.end_lr) / self.decay_steps
            return policy("Linear", "linear_lr", self.end_lr + slope * left, slope, self.end_lr)
        if not self.cycle and self.end_lr == 0 and left > 0:
            rate = self.base_lr * (left / self.decay_steps) ** self.power
            return policy("CaffePoly", "caffe_poly_lr", rate, left, self.power)
        return super().config_values()


class ExponentialDecay(LRScheduler):
    """η gamma^t.

    Example:
        >>> rate = pm.lr.ExponentialDecay(0.8, gamma=0.5)
        >>> rate.step(3)
        >>> rate()
        0.1
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1):
        self.gamma = number(self, "gamma", gamma, above=0.0)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        return self.base_lr * self.gamma**self.last_epoch

    def config_values(self) -> dict[str, Any]:
        return policy("Exp", "exp_lr", self.base_lr * self.gamma**self.shift, self.gamma, 1.0)


class LambdaDecay(LRScheduler):
    """η lr_lambda(t).

    Example:
        >>> rate = pm.lr.LambdaDecay(0.8, lambda step: 0.5**step)
        >>> rate.step(3)
        >>> rate()
        0.1
    """

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1):
        self.lr_lambda = callable_of(self, "lr_lambda", lr_lambda)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """η lr_lambda(1) lr_lambda(2) … lr_lambda(t).

    Example:
        >>> rate = pm.lr.MultiplicativeDecay(0.8, lambda step: 0.5)
        >>> rate.step()
        >>> rate()
        0.4
    """

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1):
        self.lr_lambda = callable_of(self, "lr_lambda", lr_lambda)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        return self.base_lr * math.prod(self.lr_lambda(step) for step in range(1, self.last_epoch + 1))


class CosineAnnealingDecay(LRScheduler):
    """eta_min + (η − eta_min)(1 + cos(π t / T_max)) / 2: falls for T_max steps, rises for as many.

    Loshchilov and Hutter, "SGDR", ICLR 2017, without restarts.
    Example:
        >>> rate = pm.lr.CosineAnnealingDecay(0.8, T_max=100)
        >>> rate.step(50)
        >>> round(rate(), 4)
        0.4
    """

    def __init__(self, learning_rate: float, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max = whole(self, "T_max", T_max)
        self.eta_min = number(self, "eta_min", eta_min, low=0.0)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2


class LinearLR(LRScheduler):
    """η times a factor that goes in a line from start_factor to end_factor within total_steps steps.

    Example:
        >>> rate = pm.lr.LinearLR(0.8, total_steps=10, start_factor=0.5)
        >>> rate.step(5)
        >>> round(rate(), 4)
        0.6
    """

    def __init__(
        self, learning_rate: float, total_steps: int, start_factor: float = 1.0 / 3, end_factor: float = 1.0, last_epoch: int = -1
    ):
        self.total_steps = whole(self, "total_steps", total_steps)
        self.start_factor = number(self, "start_factor", start_factor, above=0.0)
        self.end_factor = number(self, "end_factor", end_factor, low=0.0)
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        done = min(self.last_epoch, self.total_steps) / self.total_steps
        return self.base_lr * (self.start_factor + (self.end_factor - self.start_factor) * done)

    def config_values(self) -> dict[str, Any]:
        slope = self.base_lr * (self.start_factor - self.end_factor) / self.total_steps
        if slope < 0:
            raise ProgramError("LinearLR: the policy Linear of the C library falls, and this schedule rises")
        end = self.base_lr * self.end_factor
        return policy("Linear", "linear_lr", end + slope * (self.total_steps - self.shift), slope, end)
