# Callbacks that compare a value of each epoch with the best one: early stopping, the best checkpoint.
from __future__ import annotations

import math
import numbers
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .._core import ProgramError
from ..data.reader import require_positive
from ..errors import listed, near, shown
from ..io.checkpoint import CheckpointManager
from ..io.state import get_state, load_state, save_state, set_state
from ..renamed import takes_other_names
from .callbacks import Callback
from .history import Row

if TYPE_CHECKING:
    from .trainer import Trainer


class _Monitor(Callback):
    """Base class of callbacks that compare a value of each epoch with the best one so far.

    monitor: its name. mode: "min" or "max", which is better; None: "min" where the name ends with "loss". min_delta: by how
    much it must be better. NaN is never better.
    """

    def __init__(self, monitor: str, mode: str | None = None, min_delta: float = 0.0):
        if not isinstance(monitor, str):
            raise ProgramError(f"{type(self).__name__}: monitor is {shown(monitor)}, it must be the name of a value: 'val_loss'")
        if isinstance(min_delta, bool) or not isinstance(min_delta, numbers.Real) or math.isnan(min_delta):
            raise ProgramError(f"{type(self).__name__}: min_delta is {shown(min_delta)}, it must be a number")
        if mode is None and not monitor.split("[")[0].endswith("loss"):
            raise ProgramError(f"{type(self).__name__}: is a greater {shown(monitor)} better? Give mode='max', or mode='min'")
        if mode not in (None, "min", "max"):
            raise ProgramError(f"{type(self).__name__}: mode is {shown(mode)}, it must be 'min' or 'max'")
        self.monitor: str = monitor
        self.mode: str = mode or "min"
        self.min_delta: float = abs(float(min_delta))
        self.best: float | None = None
        """The best value of the running fit."""

    def on_fit_begin(self, trainer: Trainer, columns: Sequence[str]) -> None:
        if self.monitor not in columns:
            raise ProgramError(
                f"{type(self).__name__}: no value is named {shown(self.monitor)}{near(self.monitor, columns)}; there are "
                f"{listed(columns)}"
            )
        self.best = None

    def is_better(self, values: Mapping[str, float]) -> bool:
        """Whether these values are the best so far; they then become so."""
        value = float(values[self.monitor])
        gain = math.inf if self.best is None else (self.best - value if self.mode == "min" else value - self.best)
        if math.isnan(value) or not gain > self.min_delta:
            return False
        self.best = value
        return True

    def state_name(self) -> str:
        return f"{type(self).__name__}({self.monitor!r}, {self.mode!r})"

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.best = state["best"]


class EarlyStopping(_Monitor):
    """Ends training when a value was not better than the best one for `patience` epochs in succession.

    restore_best: when training ends, for this or another reason, all variables have the values of the best epoch; schedules and
    random numbers stay as they are. The values are kept in memory, or, where fit has checkpoints, in a file in their folder
    `best`.
    monitor: the name of the value. mode: whether "min" or "max" is better; None: "min", for names that end with "loss".
    min_delta: a value is better only by more than this. Raises ProgramError for another mode, and in fit for another name.
    Example:
        >>> stop = pm.training.EarlyStopping("loss", patience=1, min_delta=1e9)
        >>> history = pm.fit(loss, {"x": inputs, "y": targets}, pm.optimizer.SGD(0.1), epochs=9, callbacks=[stop], progress=False)
        >>> len(history)
        2
    """

    @takes_other_names
    def __init__(
        self,
        monitor: str = "val_loss",
        patience: int = 3,
        mode: str | None = None,
        min_delta: float = 0.0,
        restore_best: bool = False,
    ):
        super().__init__(monitor, mode, min_delta)
        require_positive("EarlyStopping", "patience", patience)
        self.patience, self.restore_best = patience, restore_best
        self.waited = 0
        self._kept: dict[str, Any] | None = None
        # Callbacks of the same arguments have the same best epoch.
        self._file = f"{quote(monitor, safe='')}-{self.mode}-{self.min_delta:g}.safetensors"

    def on_fit_begin(self, trainer: Trainer, columns: Sequence[str]) -> None:
        super().on_fit_begin(trainer, columns)
        self.waited, self._kept = 0, None

    def on_epoch_end(self, trainer: Trainer, values: Row) -> None:
        if self.is_better(values):
            self.waited = 0
            if self.restore_best:
                self._keep(trainer)
            return
        self.waited += 1
        if self.waited >= self.patience:
            best = "never a number" if self.best is None else f"best {self.best:.5g}"
            trainer.stop(f"{self.monitor} was not better for {self.waited} epochs ({best})")

    def on_fit_end(self, trainer: Trainer) -> None:
        if not self.restore_best or self.best is None:
            return
        kept = self._kept if trainer.checkpoints is None else load_state(self._path(trainer.checkpoints))
        if kept is not None:
            set_state(trainer.main, kept, trainer.scope)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "waited": self.waited, "file": self._file}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.waited, self._file = state["waited"], state["file"]

    def _keep(self, trainer: Trainer) -> None:
        state = get_state(trainer.main, trainer.scope)
        if trainer.checkpoints is None:
            self._kept = state
        else:
            save_state(self._path(trainer.checkpoints), state)

    def _path(self, checkpoints: CheckpointManager) -> str:
        return os.path.join(checkpoints.directory, "best", self._file)


class BestCheckpoint(_Monitor):
    """Saves a checkpoint of the epoch with the best value into a folder of its own; CheckpointManager(folder).restore(...)
    reads it. Its `data` is the values of that epoch.

    monitor, mode, min_delta: as of EarlyStopping.
    Example:
        >>> best = pm.training.BestCheckpoint("best", monitor="loss")
        >>> history = pm.fit(loss, {"x": inputs, "y": targets}, pm.optimizer.SGD(0.1), callbacks=[best], progress=False)
        >>> pm.io.CheckpointManager("best").restore(loss.block.program, pm.Executor()).data["epoch"]
        1
    """

    @takes_other_names
    def __init__(
        self, folder: str | os.PathLike[str], monitor: str = "val_loss", mode: str | None = None, min_delta: float = 0.0
    ):
        super().__init__(monitor, mode, min_delta)
        self.folder = folder

    def on_fit_begin(self, trainer: Trainer, columns: Sequence[str]) -> None:
        super().on_fit_begin(trainer, columns)
        if not trainer.is_trial:
            with CheckpointManager(self.folder) as manager:
                manager.prepare()

    def on_epoch_end(self, trainer: Trainer, values: Row) -> None:
        if self.is_better(values) and not trainer.is_trial:
            plain = {name: None if math.isnan(value) else value for name, value in values.items()}
            with CheckpointManager(self.folder, keep=1) as manager:
                manager.save(trainer.step, trainer.main, trainer.exe, trainer.scope, data=plain, force=True)
