# ReduceOnPlateau: a learning rate that falls when a metric no longer gets better.
from __future__ import annotations

from typing import Any

import numpy as np

from .._core import ProgramError
from ..errors import shown
from .scheduler import LRScheduler, number, one_of, whole


class ReduceOnPlateau(LRScheduler):
    """Multiplies the rate by `factor` when step(metric) saw no better metric more than `patience` times.

    mode: whether "min" or "max" is better. threshold: by how much, as a share of the best
    (threshold_mode="rel") or as a number ("abs"). cooldown: steps after a fall that do not count.
    min_lr: the least rate. epsilon: a fall that is not larger is left out.
    Example:
        >>> rate = pm.lr.ReduceOnPlateau(0.8, factor=0.5, patience=1)
        >>> for loss in (1.0, 1.0, 1.0):
        ...     rate.step(loss)
        >>> rate()
        0.4
    """

    state_keys = ("last_epoch", "last_lr", "best", "num_bad_epochs", "cooldown_counter")

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        epsilon: float = 1e-8,
    ):
        self.mode = one_of(self, "mode", mode, ["min", "max"])
        self.factor = number(self, "factor", factor, low=0.0)
        if self.factor >= 1:
            raise ProgramError(f"ReduceOnPlateau: factor is {shown(factor)}, it must be below 1")
        self.patience = whole(self, "patience", patience, low=0)
        self.threshold = number(self, "threshold", threshold, low=0.0)
        self.threshold_mode = one_of(self, "threshold_mode", threshold_mode, ["rel", "abs"])
        self.cooldown = whole(self, "cooldown", cooldown, low=0)
        self.min_lr = number(self, "min_lr", min_lr, low=0.0)
        self.epsilon = number(self, "epsilon", epsilon, low=0.0)
        self.best: float | None = None
        self.num_bad_epochs = 0
        self.cooldown_counter = 0
        # The first metric comes with the first step(); no step is taken before.
        self.base_lr = self.last_lr = number(self, "learning_rate", learning_rate, low=0.0)
        self.last_epoch = 0

    def get_lr(self) -> float:
        return self.last_lr

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Goes on by one step, with the metric of what was done since: one number, or an array of one."""
        metric = _one_number("metrics", metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else whole(self, "epoch", epoch, low=0)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(metric, self.best):
            self.best, self.num_bad_epochs = metric, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            lower = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - lower > self.epsilon:
                self.last_lr = lower

    def _is_better(self, metric: float, best: float) -> bool:
        gap = self.threshold * (best if self.threshold_mode == "rel" else 1.0)
        return metric < best - gap if self.mode == "min" else metric > best + gap

    def _restored(self, key: str, value: Any) -> Any:
        if key == "best":
            return None if value is None else _one_number("'best' of the state", value)
        return super()._restored(key, value)


def _one_number(what: str, value: Any) -> float:
    """The metric; ProgramError if it is not one number, or an array of one."""
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "fiu":
        raise ProgramError(f"ReduceOnPlateau: {what} is {shown(value)}, it must be one number")
    return float(array.reshape(()))
