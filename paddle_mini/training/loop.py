# Loop: the steps and epochs of one call of fit.
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .batches import Batches
from .callbacks import Callback
from .history import Row, plain_numbers
from .interrupts import StepGuard
from .position import Position
from .progress import Progress
from .schedules import Schedules

if TYPE_CHECKING:
    from .trainer import Trainer


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
        saves_epochs: bool,
    ):
        self._trainer, self._batches, self._callbacks, self._loggers = trainer, batches, callbacks, loggers
        self._progress, self._schedules, self._saves_epochs = progress, Schedules(trainer.main, schedule), saves_epochs
        self._fetches = list(trainer.measures.values())
        self._position = Position(trainer, callbacks, batches.batch_size)
        self._guard = StepGuard()

    def run(self, epochs: int) -> None:
        trainer, position = self._trainer, self._position
        last = self._begin() + epochs
        position.note_callbacks()
        self._guard.activate()
        try:
            while trainer.epoch < last and trainer.history.stopped is None:
                self._epoch(last)
            trainer.planned = last if trainer.history.stopped is None else trainer.epoch
            if position.is_after(last):  # the checkpoint is one of a later call, which continues there
                return
            if not position.is_finished:
                with self._guard:
                    for callback in self._callbacks:
                        callback.on_fit_end(trainer)
                    position.is_finished = True
                position.save(force=True)
            trainer.unfinished = None
            if trainer.history.stopped is not None:
                self._progress.say(f"stopped: {trainer.history.stopped}")
        except KeyboardInterrupt:
            self._progress.close()
            if trainer.checkpoints is not None and not self._guard.is_broken:
                self._guard.close()
                path = position.save(force=True)
                self._progress.say(
                    f"interrupted after step {trainer.step}, saved as {path}; the same call of fit continues there (in this "
                    "process: of the same Trainer, or pm.fit without optimizer=)"
                )
            raise
        finally:
            self._progress.close()
            self._guard.close()

    def _begin(self) -> int:
        """Gives the variables their values. Returns the epoch at which this call begins, of which a checkpoint may be later."""
        trainer, first = self._trainer, self._trainer.planned
        folder = None if trainer.checkpoints is None else trainer.checkpoints.directory
        path = self._position.restore() if not trainer.step or (folder is not None and folder == trainer.unfinished) else None
        trainer.unfinished = folder
        if path is None:
            trainer.give_values()
            first = trainer.epoch
        else:
            epoch = trainer.epoch + bool(self._position.batch)
            self._progress.say(f"continues after step {trainer.step} of epoch {epoch}: {path}")
        self._batches.first_epoch = first
        return first

    def _epoch(self, last: int) -> None:
        trainer, progress, position = self._trainer, self._progress, self._position
        position.is_finished = False
        progress.begin_epoch(trainer.epoch + 1, last, self._batches.count(), position.batch)
        for callback in self._callbacks:
            callback.on_epoch_begin(trainer)
        feeds = self._batches.epoch(trainer.epoch, position.batch)
        try:
            for feed in feeds:
                with self._guard:
                    values = self._step(feed)
                progress.step(values)
                position.save()
                if trainer.history.stopped is not None:
                    break
        finally:
            feeds.close()
        row: Row = {"epoch": trainer.epoch + 1, "step": trainer.step, **position.means.values(), **trainer.validated()}
        with self._guard:
            self._end_epoch(row)
        progress.end_epoch(row, last)
        if self._saves_epochs and trainer.epoch < last and trainer.history.stopped is None:
            position.save(force=True)

    def _step(self, feed: dict[str, Any]) -> dict[str, float]:
        trainer, position = self._trainer, self._position
        found = trainer.exe.run(trainer.main, feed, self._fetches, trainer.scope)
        values = position.means.add(found, self._batches.rows(feed))
        self._schedules.end_step()
        trainer.step += 1
        position.batch += 1
        for callback in self._callbacks:
            callback.on_step_end(trainer, values)
        return values

    def _end_epoch(self, row: Row) -> None:
        """The state advances to the next epoch with all that callbacks change."""
        for callback in self._callbacks:
            callback.on_epoch_end(self._trainer, row)
            row.update(plain_numbers(type(callback).__name__, row))
        self._schedules.end_epoch(row)
        self._position.end_epoch(row)
        for logger in self._loggers:
            logger.log({name: value for name, value in row.items() if name != "step"}, self._trainer.step)
