# Position: where training is, as its checkpoints hold it.
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from .._core import ProgramError
from ..errors import shown
from ..io.checkpoint import CheckpointManager, Restored
from .callbacks import Callback
from .history import Row
from .means import Means

if TYPE_CHECKING:
    from .trainer import Trainer


class Position:
    """The batches of the running epoch and their means, beside the trainer's step, epoch and history; and the state of callbacks
    at the end of the last epoch, where a restart begins."""

    def __init__(self, trainer: Trainer, callbacks: Sequence[Callback], batch_size: int | None):
        self._trainer, self._callbacks, self._batch_size = trainer, callbacks, batch_size
        self.batch, self.means, self.is_finished = 0, Means(trainer.measures), False
        self._rows: list[dict[str, Any]] = [_plain(row) for row in trainer.history.rows]
        self._states: list[list[Any]] = []

    def end_epoch(self, row: Row) -> None:
        self._trainer.history.rows.append(row)
        self._rows.append(_plain(row))
        self._trainer.epoch, self.batch, self.means = self._trainer.epoch + 1, 0, Means(self._trainer.measures)
        self.note_callbacks()

    def note_callbacks(self) -> None:
        self._states = [[callback.state_name(), callback.state_dict()] for callback in self._callbacks]

    def is_after(self, epoch: int) -> bool:
        """Whether training has gone beyond the end of this epoch."""
        return (self._trainer.epoch, self.batch) > (epoch, 0)

    def save(self, force: bool = False) -> str | None:
        """The path of the checkpoint; None if it is not time for one."""
        trainer = self._trainer
        if trainer.checkpoints is None:
            return None
        state = {
            "epoch": trainer.epoch,
            "position": self.batch,
            "batch_size": self._batch_size,
            "sums": _plain(self.means.sums),
            "rows": self.means.rows,
            "history": self._rows,
            "finished": self.is_finished,
            "callbacks": self._states,
            "stopped": trainer.history.stopped,
        }
        return trainer.checkpoints.save(trainer.step, trainer.main, trainer.exe, trainer.scope, {"fit": state}, force)

    def restore(self) -> str | None:
        """Restores the newest checkpoint and returns its path; None if there is none. ProgramError if it is inside an epoch
        whose batches had another size: its position would be that of other rows."""
        trainer = self._trainer
        if trainer.checkpoints is None or not trainer.checkpoints.steps():
            return None
        at = trainer.checkpoints.restore(trainer.main, trainer.exe, trainer.scope, check=self._require_own)
        state = at.data["fit"]
        trainer.has_values = True
        trainer.step, trainer.epoch, self.batch = at.step, state["epoch"], state["position"]
        self.means.sums.update(_numbers(state["sums"]))
        self.means.rows = state["rows"]
        trainer.history.rows[:] = map(_numbers, state["history"])
        self._rows = list(state["history"])
        trainer.history.stopped = trainer.history.stopped or state["stopped"]  # a callback may have called stop() before
        self.is_finished = state["finished"]
        saved = list(state["callbacks"])
        for callback in self._callbacks:  # one that was not there when the checkpoint was saved begins
            own = next((one for one in saved if one[0] == callback.state_name()), None)
            if own is not None:
                saved.remove(own)
                callback.load_state_dict(own[1])
        return at.path

    def _require_own(self, at: Restored) -> None:
        state = at.data.get("fit") if isinstance(at.data, dict) else None
        if not isinstance(state, dict):
            raise ProgramError(f"'{at.path}' was not saved by fit: its data is {shown(at.data)}")
        size = state.get("batch_size", self._batch_size)  # older checkpoints have none
        if state["position"] and size != self._batch_size:
            raise ProgramError(
                f"'{at.path}' is {state['position']} batches into an epoch with batch_size={size}, now batch_size is "
                f"{self._batch_size}: finish that epoch first"
            )


def opened(checkpoints: str | os.PathLike[str] | CheckpointManager | None) -> AbstractContextManager[CheckpointManager | None]:
    """The manager as it is; that of a folder saves every 10 minutes, and is closed at the end."""
    if checkpoints is None or isinstance(checkpoints, CheckpointManager):
        return nullcontext(checkpoints)
    return CheckpointManager(checkpoints, every_seconds=600)


def _plain(values: Mapping[str, float]) -> dict[str, Any]:
    """For JSON, which has no NaN that equals itself."""
    return {name: None if value != value else value for name, value in values.items()}


def _numbers(values: Mapping[str, Any]) -> Row:
    return {name: float("nan") if value is None else value for name, value in values.items()}
