# Callbacks of fit: their base class, early stopping, the best checkpoint, learning rates, averages.
from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core import ProgramError
from ..averaging.scheme import Scheme
from ..errors import listed, near, shown
from ..io.checkpoint import CheckpointManager
from ..io.state import get_state, set_state
from ..roles import OPTIMIZE
from .history import Row

if TYPE_CHECKING:
    from .trainer import Trainer


class Callback:
    """Base class: fit calls its methods, which do nothing here, while it trains.

    trainer: has exe, scope, main, test, step, epoch, history, evaluate() and stop(reason).

    >>> class Print(pm.training.Callback):
    ...     def on_epoch_end(self, trainer, values):
    ...         print(values["loss"])
    """

    def columns(self, trainer: Trainer) -> Sequence[str]:
        """The names of values that on_epoch_end adds; asked for before training begins."""
        return ()

    def on_fit_begin(self, trainer: Trainer, columns: Sequence[str]) -> None:
        """Before anything changes. columns: all names that the values of an epoch will have."""

    def on_epoch_begin(self, trainer: Trainer) -> None:
        """Before the first step of an epoch, or before the first one after a restart in its middle."""

    def on_step_end(self, trainer: Trainer, values: Mapping[str, float]) -> None:
        """After a step, with the loss and metrics of its batch."""

    def on_epoch_end(self, trainer: Trainer, values: Row) -> None:
        """After the validation, with the values of the epoch, to which it may add."""

    def on_fit_end(self, trainer: Trainer) -> None:
        """After the last epoch; not after an error or an interrupt."""

    def state_dict(self) -> dict[str, Any]:
        """The state for checkpoints, at the end of an epoch: JSON values."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores a state_dict()."""


class _Monitor(Callback):
    """Base class of callbacks that compare a value of each epoch with the best one so far.

    monitor: its name. mode: "min" or "max", which is better; None: "min" where the name ends with "loss". min_delta: by how
    much it must be better. NaN is never better.
    """

    def __init__(self, monitor: str, mode: str | None = None, min_delta: float = 0.0):
        if mode is None and not monitor.split("[")[0].endswith("loss"):
            raise ProgramError(f"{type(self).__name__}: is a greater {shown(monitor)} better? Give mode='max', or mode='min'")
        if mode not in (None, "min", "max"):
            raise ProgramError(f"{type(self).__name__}: mode is {shown(mode)}, it must be 'min' or 'max'")
        self.monitor, self.mode, self.min_delta = monitor, mode or "min", abs(min_delta)
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

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.best = state["best"]


class EarlyStopping(_Monitor):
    """Ends training when a value was not better than the best one for `patience` epochs in succession.

    restore_best: when training ends, for this or another reason, all variables have the values of the best epoch. They are
    kept in memory, or, where fit has checkpoints, in a checkpoint in their folder `best`.
    monitor: the name of the value. mode: whether "min" or "max" is better; None: "min", for names that end with "loss".
    min_delta: a value is better only by more than this. Raises ProgramError for another mode, and in fit for another name.
    Example:
        >>> stop = pm.training.EarlyStopping("loss", patience=1, min_delta=1e9)
        >>> history = pm.fit(loss, {"x": inputs, "y": targets}, pm.optimizer.SGD(0.1), epochs=9, callbacks=[stop], progress=False)
        >>> len(history)
        2
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        patience: int = 3,
        mode: str | None = None,
        min_delta: float = 0.0,
        restore_best: bool = False,
    ):
        super().__init__(monitor, mode, min_delta)
        if isinstance(patience, bool) or not isinstance(patience, int) or patience < 1:
            raise ProgramError(f"EarlyStopping: patience is {shown(patience)}, it must be an integer, at least 1")
        self.patience, self.restore_best = patience, restore_best
        self.waited = 0
        self._kept: dict[str, Any] | None = None

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
        if self._kept is not None:
            set_state(trainer.main, self._kept, trainer.scope)
        elif trainer.checkpoints is not None:
            with _best(trainer.checkpoints) as manager:
                manager.restore(trainer.main, trainer.exe, trainer.scope)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "waited": self.waited}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.waited = state["waited"]

    def _keep(self, trainer: Trainer) -> None:
        if trainer.checkpoints is None:
            self._kept = get_state(trainer.main, trainer.scope)
            return
        with _best(trainer.checkpoints) as manager:
            manager.save(trainer.step, trainer.main, trainer.exe, trainer.scope, force=True)


def _best(checkpoints: CheckpointManager) -> CheckpointManager:
    return CheckpointManager(os.path.join(checkpoints.directory, "best"), keep=1)


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

    def __init__(
        self, folder: str | os.PathLike[str], monitor: str = "val_loss", mode: str | None = None, min_delta: float = 0.0
    ):
        super().__init__(monitor, mode, min_delta)
        self.folder = folder

    def on_epoch_end(self, trainer: Trainer, values: Row) -> None:
        if self.is_better(values) and not trainer.is_trial:
            plain = {name: None if math.isnan(value) else value for name, value in values.items()}
            with CheckpointManager(self.folder, keep=1) as manager:
                manager.save(trainer.step, trainer.main, trainer.exe, trainer.scope, data=plain, force=True)


class LearningRateLogger(Callback):
    """Adds "learning_rate": the rate of the last step of the epoch.

    Example:
        >>> rates = pm.training.LearningRateLogger()
        >>> history = pm.fit(loss, {"x": inputs, "y": targets}, pm.optimizer.SGD(0.5), callbacks=[rates], progress=False)
        >>> history["learning_rate"]
        [0.5]
    """

    def columns(self, trainer: Trainer) -> Sequence[str]:
        return ["learning_rate"]

    def on_epoch_end(self, trainer: Trainer, values: Row) -> None:
        ops = (op for block in trainer.main.blocks for op in block.ops if op.attr("op_role", 0) & OPTIMIZE)
        names = {name for op in ops for name in op.input("LearningRate")}
        # A factor of a parameter is applied in a variable that does not outlive the run.
        held = sorted(name for name in names if name in trainer.scope and trainer.main.global_block().var(name).persistable)
        values["learning_rate"] = float(trainer.scope.get(held[0]).reshape(-1)[0]) if held else math.nan


class Histograms(Callback):
    """Writes histograms of parameters, and of their averages where the program has some, at the end of every `every`-th epoch.

    logger: a pm.loggers.TensorBoardLogger, or an object with its log_histograms.

    Example:
        >>> histograms = pm.training.Histograms(pm.loggers.TensorBoardLogger("runs"), every=2)
        >>> history = pm.fit(loss, {"x": inputs, "y": targets}, pm.optimizer.SGD(0.1), callbacks=[histograms], progress=False)
    """

    def __init__(self, logger: Any, every: int = 1):
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ProgramError(f"Histograms: every is {shown(every)}, it must be an integer, at least 1")
        if not callable(getattr(logger, "log_histograms", None)):
            raise ProgramError(f"Histograms: {shown(logger)} has no log_histograms; give it a TensorBoardLogger")
        self.logger, self.every = logger, every

    def on_epoch_end(self, trainer: Trainer, values: Row) -> None:
        if values["epoch"] % self.every == 0 and not trainer.is_trial:
            averages = trainer.average if trainer.has_averages() else None
            self.logger.log_histograms(trainer.step, trainer.main, trainer.scope, averages)


class EvaluateAverages(Callback):
    """Adds the validation's values with averaged parameters, as "averaged_val_loss". fit has one by itself where the program
    averages and there is validation data.

    schemes: which averages; with several the names are "averaged_val_loss[Uniform()]". None: the first.
    Example:
        >>> data, both = {"x": inputs, "y": targets}, [pm.averaging.Uniform(), pm.averaging.Exponential(0.9)]
        >>> trainer = pm.Trainer(loss, pm.optimizer.SGD(0.1), averaging=both)
        >>> callbacks = [pm.training.EvaluateAverages(both)]
        >>> history = trainer.fit(data, validation=data, callbacks=callbacks, progress=False)
        >>> "averaged_val_loss[Uniform()]" in history.columns()
        True
    """

    def __init__(self, schemes: Sequence[Scheme] | None = None):
        self.schemes: list[Scheme | None] = [None] if schemes is None else list(schemes)

    def columns(self, trainer: Trainer) -> Sequence[str]:
        if trainer.average is None or trainer.validation is None:
            raise ProgramError(
                "EvaluateAverages: " + ("there is no validation data" if trainer.average else "the program has no averages")
            )
        return [self._named(name, scheme) for scheme in self.schemes for name in trainer.measures]

    def on_epoch_end(self, trainer: Trainer, values: Row) -> None:
        for scheme in self.schemes:
            for name, value in trainer.evaluate_averages(scheme).items():
                values[self._named(name, scheme)] = value

    def _named(self, name: str, scheme: Scheme | None) -> str:
        return f"averaged_val_{name}" + ("" if len(self.schemes) == 1 else f"[{scheme!r}]")
