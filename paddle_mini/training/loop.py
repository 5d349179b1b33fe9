# Loop: the steps and epochs of one call of fit, their checkpoints, and the restart from one.
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import ProgramError
from ..errors import shown
from ..lr.plateau import ReduceOnPlateau
from .batches import Batches
from .callbacks import Callback
from .history import Row
from .interrupts import StepGuard
from .progress import Progress

if TYPE_CHECKING:
    from .trainer import Trainer


class Means:
    """Means of values over batches, weighted by rows: each batch gives a mean over its rows."""

    def __init__(self, names: Iterable[str]):
        self.sums = dict.fromkeys(names, 0.0)
        self.rows = 0

    def add(self, values: Iterable[np.ndarray], rows: int) -> dict[str, float]:
        """Adds the values of a batch; returns them by name."""
        found = {name: float(value.reshape(())) for name, value in zip(self.sums, values)}
        for name, value in found.items():
            self.sums[name] += value * rows
        self.rows += rows
        return found

    def values(self) -> dict[str, float]:
        return {name: total / self.rows if self.rows else float("nan") for name, total in self.sums.items()}


class Loop:
    """One call of Trainer.fit."""

    def __init__(
        self,
        trainer: Trainer,
        batches: Batches,
        callbacks: Sequence[Callback],
        loggers: Sequence[Any],
        progress: Progress,
        schedule: str,
        by_epoch: bool,
    ):
        self._trainer, self._batches, self._callbacks, self._loggers = trainer, batches, callbacks, loggers
        self._progress, self._saves_epochs = progress, by_epoch
        by_step = schedule == "step"
        self._of_steps = [one for one in trainer.schedules() if by_step and not isinstance(one, ReduceOnPlateau)]
        self._of_epochs = [one for one in trainer.schedules() if one not in self._of_steps]
        self._fetches = list(trainer.measures.values())
        self._position, self._means = 0, Means(trainer.measures)
        self._states: list[list[Any]] = []
        self._is_finished = False
        self._plain_rows: list[dict[str, Any]] = [_plain(row) for row in trainer.history.rows]
        self._guard = StepGuard()

    def run(self, epochs: int) -> None:
        trainer = self._trainer
        trainer.planned += epochs
        if trainer.step or not self._resume():
            trainer.initialized()
            trainer.history.stopped = None
        self._states = self._callback_states()
        self._guard.activate()
        try:
            while trainer.epoch < trainer.planned and trainer.history.stopped is None:
                self._epoch()
            if not self._is_finished:
                with self._guard:
                    for callback in self._callbacks:
                        callback.on_fit_end(trainer)
                    self._is_finished = True
                self._save(force=True)
            if trainer.history.stopped is not None:
                trainer.planned = trainer.epoch
                self._progress.say(f"stopped: {trainer.history.stopped}")
        except KeyboardInterrupt:
            self._progress.close()
            if trainer.checkpoints is not None and not self._guard.is_broken:
                self._guard.close()
                path = self._save(force=True)
                self._progress.say(
                    f"interrupted after step {trainer.step}, saved as {path}; the same call of fit continues there"
                )
            raise
        finally:
            self._progress.close()
            self._guard.close()

    def _epoch(self) -> None:
        trainer, progress, self._is_finished = self._trainer, self._progress, False
        progress.begin_epoch(trainer.epoch + 1, trainer.planned, self._batches.count(), self._position)
        for callback in self._callbacks:
            callback.on_epoch_begin(trainer)
        feeds = self._batches.epoch(trainer.epoch, self._position)
        try:
            for feed in feeds:
                with self._guard:
                    values = self._step(feed)
                progress.step(values)
                self._save()
                if trainer.history.stopped is not None:
                    break
        finally:
            feeds.close()
        row: Row = {"epoch": trainer.epoch + 1, "step": trainer.step, **self._means.values(), **trainer.validated()}
        with self._guard:
            self._end_epoch(row)
        progress.end_epoch(row, trainer.planned)
        if self._saves_epochs and trainer.epoch < trainer.planned and trainer.history.stopped is None:
            self._save(force=True)

    def _step(self, feed: dict[str, Any]) -> dict[str, float]:
        trainer = self._trainer
        found = trainer.exe.run(trainer.main, feed, self._fetches, trainer.scope)
        values = self._means.add(found, self._batches.rows(feed))
        for schedule in self._of_steps:
            schedule.step()
        trainer.step += 1
        self._position += 1
        for callback in self._callbacks:
            callback.on_step_end(trainer, values)
        return values

    def _end_epoch(self, row: Row) -> None:
        """The state advances to the next epoch with all that callbacks change."""
        trainer = self._trainer
        for callback in self._callbacks:
            callback.on_epoch_end(trainer, row)
        for schedule in self._of_epochs:
            if isinstance(schedule, ReduceOnPlateau):
                schedule.step(row.get("val_loss", row["loss"]))
            else:
                schedule.step()
        trainer.history.rows.append(row)
        self._plain_rows.append(_plain(row))
        trainer.epoch, self._position, self._means = trainer.epoch + 1, 0, Means(trainer.measures)
        self._states = self._callback_states()
        for logger in self._loggers:
            logger.log({name: value for name, value in row.items() if name != "step"}, trainer.step)

    def _callback_states(self) -> list[list[Any]]:
        return [[type(callback).__name__, callback.state_dict()] for callback in self._callbacks]

    def _save(self, force: bool = False) -> str | None:
        trainer = self._trainer
        if trainer.checkpoints is None:
            return None
        state = {
            "epoch": trainer.epoch,
            "position": self._position,
            "sums": _plain(self._means.sums),
            "rows": self._means.rows,
            "history": self._plain_rows,
            "finished": self._is_finished,
            "callbacks": self._states,
            "stopped": trainer.history.stopped,
        }
        return trainer.checkpoints.save(trainer.step, trainer.main, trainer.exe, trainer.scope, {"fit": state}, force)

    def _resume(self) -> bool:
        """Restores the newest checkpoint, if there is one."""
        trainer = self._trainer
        if trainer.checkpoints is None or not trainer.checkpoints.steps():
            return False
        at = trainer.checkpoints.restore(trainer.main, trainer.exe, trainer.scope)
        state = at.data.get("fit") if isinstance(at.data, dict) else None
        if not isinstance(state, dict):
            raise ProgramError(f"'{at.path}' was not saved by fit: its data is {shown(at.data)}")
        trainer.restored()
        trainer.step, trainer.epoch, self._position = at.step, state["epoch"], state["position"]
        self._means.sums.update(_numbers(state["sums"]))
        self._means.rows = state["rows"]
        trainer.history.rows[:] = map(_numbers, state["history"])
        self._plain_rows = list(state["history"])
        trainer.history.stopped, self._is_finished = state["stopped"], state["finished"]
        saved = list(state["callbacks"])
        for callback in self._callbacks:  # one that was not there when the checkpoint was saved begins
            own = next((one for one in saved if one[0] == type(callback).__name__), None)
            if own is not None:
                saved.remove(own)
                callback.load_state_dict(own[1])
        self._progress.say(f"continues after step {at.step} of epoch {trainer.epoch + bool(self._position)}: {at.path}")
        return True


def _plain(values: Mapping[str, float]) -> dict[str, Any]:
    """For JSON, which has no NaN that equals itself."""
    return {name: None if value != value else value for name, value in values.items()}


def _numbers(values: Mapping[str, Any]) -> Row:
    return {name: float("nan") if value is None else value for name, value in values.items()}
