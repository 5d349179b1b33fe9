# GivenRates: the learning rates that servers have got in modes async and sync, and what a script changes of them later.
from __future__ import annotations

from typing import Any

import numpy as np

from ..._core import ProgramError, Scope
from ...lr.scheduler import LRScheduler
from ...optimizer.rates import Rates
from ...optimizer.wrapper import chain
from ...program import Program
from ..process_log import ProcessLogger
from .transpile import Trained

_log = ProcessLogger(__name__)


class GivenRates:
    """The learning rates of the optimizers of a program when its trainer joins. mode: of the job.

    Servers can't follow set_lr(), which is an error after that; and they advance a schedule with each of their updates, not with
    step(), which is logged once where it makes a difference."""

    def __init__(self, main: Program, trained: list[Trained], scope: Scope, mode: str):
        self._scope, self._mode = scope, mode
        optimizers = {name: chain(minimizer)[-1] for name, (minimizer, _) in main.minimizers.items()}
        self._schedules: dict[int, LRScheduler] = {}  # those that go by updates
        for one in trained:
            _set_present_rate(one.config, optimizers[one.name], scope)
            rate = getattr(optimizers[one.name], "learning_rate", None)
            if isinstance(rate, LRScheduler) and not one.config.HasField("pass_manual_lr"):
                self._schedules[id(rate)] = rate
        rates = {id(one): one for one in optimizers.values() if isinstance(one, Rates)}.values()
        self._constant = [(one, one.get_lr(scope)) for one in rates if one.is_constant]
        self._before: dict[int, int] = {}  # the steps of each schedule at the last batch

    def require_unchanged(self) -> None:
        """ProgramError after set_lr()."""
        for optimizer, rate in self._constant:
            now = optimizer.get_lr(self._scope)
            if now != rate:
                raise ProgramError(
                    f"set_lr: the rate is {now:g} now, but in mode {self._mode} servers optimize, with the rate {rate:g} "
                    "that they got at join(): give the optimizer a schedule, or take mode delta, elastic or collective"
                )

    def note_batch(self) -> None:
        """Called for each batch."""
        if not self._schedules:
            return
        now = {key: one.last_epoch for key, one in self._schedules.items()}
        still = next((one for key, one in self._schedules.items() if self._before.get(key) == now[key]), None)
        self._before = now
        if still is not None:
            self._schedules = {}
            _log.warning(
                "step() of the learning rate %s was not called since the last batch, but in mode %s servers optimize, and "
                "advance it with each of their updates; in modes delta, elastic and collective it goes by step()",
                type(still).__name__,
                self._mode,
            )


def _set_present_rate(config: Any, optimizer: Any, scope: Scope) -> None:
    """Sets a constant rate that set_lr() has changed. Where it has not, the configuration has more digits than the program."""
    if config.HasField("const_lr") and isinstance(optimizer, Rates) and optimizer.is_constant:
        now = optimizer.get_lr(scope)
        if np.float32(now) != np.float32(config.const_lr.learning_rate):
            config.const_lr.learning_rate = now
