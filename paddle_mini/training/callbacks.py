# Callbacks of fit: their base class, learning rates, histograms, averages.
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core import ProgramError
from ..averaging.scheme import Scheme
from ..data.reader import require_positive
from ..errors import listed, shown
from ..feeds import number_of
from ..renamed import answers_names
from ..roles import OPTIMIZE
from .history import Row

if TYPE_CHECKING:
    from .trainer import Trainer


@answers_names
class Callback:
    """Base class: fit calls its methods, which do nothing here, while it trains.

    trainer: has exe, scope, main, test, step, epoch, history, evaluate() and stop(reason); is_trial in a fast_dev_run, where
    callbacks write no files.

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

    def state_name(self) -> str:
        """By which the state is found again: a checkpoint may hold those of several callbacks of one class."""
        return type(self).__name__

    def state_dict(self) -> dict[str, Any]:
        """The state for checkpoints, at the end of an epoch: JSON values."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores a state_dict()."""


class LearningRateLogger(Callback):
    """Adds "learning_rate": the optimizer's rate in the last step of the epoch; NaN where the program computes it and keeps it in
    no persistable variable.

    Example:
        >>> rates = pm.training.LearningRateLogger()
        >>> history = pm.fit(loss, {"x": inputs, "y": targets}, pm.optimizer.SGD(0.5), callbacks=[rates], progress=False)
        >>> history["learning_rate"]
        [0.5]
    """

    def columns(self, trainer: Trainer) -> Sequence[str]:
        return ["learning_rate"]

    def on_epoch_end(self, trainer: Trainer, values: Row) -> None:
        ops = [op for block in trainer.main.blocks for op in block.ops if op.attr("op_role", 0) & OPTIMIZE]
        names = {name for op in ops for name in op.input("LearningRate")}
        # A factor of a parameter is applied in a variable that does not outlive the run.
        names |= {op.input("X")[0] for op in ops if op.type == "scale" and not names.isdisjoint(op.output("Out"))}
        held = sorted(name for name in names if name in trainer.scope and trainer.main.global_block().var(name).persistable)
        values["learning_rate"] = number_of(trainer.scope.get(held[0])) if held else math.nan


class Histograms(Callback):
    """Writes histograms of parameters, and of their averages where the program has some, at the end of every `every`-th epoch.

    logger: a pm.loggers.TensorBoardLogger, or an object with its log_histograms.

    Example:
        >>> histograms = pm.training.Histograms(pm.loggers.TensorBoardLogger("runs"), every=2)
        >>> history = pm.fit(loss, {"x": inputs, "y": targets}, pm.optimizer.SGD(0.1), callbacks=[histograms], progress=False)
    """

    def __init__(self, logger: Any, every: int = 1):
        require_positive("Histograms", "every", every)
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

    schemes: which averages, one or a list; with several the names are "averaged_val_loss[Uniform()]". None: the first.
    Example:
        >>> data, both = {"x": inputs, "y": targets}, [pm.averaging.Uniform(), pm.averaging.Exponential(0.9)]
        >>> trainer = pm.Trainer(loss, pm.optimizer.SGD(0.1), averaging=both)
        >>> callbacks = [pm.training.EvaluateAverages(both)]
        >>> history = trainer.fit(data, validation=data, callbacks=callbacks, progress=False)
        >>> "averaged_val_loss[Uniform()]" in history.columns()
        True
    """

    def __init__(self, schemes: Scheme | Sequence[Scheme] | None = None):
        given = [schemes] if schemes is None or isinstance(schemes, Scheme) else schemes
        if (
            not isinstance(given, (list, tuple))
            or not given
            or not all(isinstance(one, (Scheme, type(schemes))) for one in given)
        ):
            raise ProgramError(f"EvaluateAverages: schemes is {shown(schemes)}, it must be a scheme of pm.averaging, or a list")
        self.schemes: list[Scheme | None] = list(given)

    def columns(self, trainer: Trainer) -> Sequence[str]:
        if trainer.average is None or trainer.validation is None:
            raise ProgramError(
                "EvaluateAverages: " + ("there is no validation data" if trainer.average else "the program has no averages")
            )
        known = getattr(trainer.average, "schemes", ())  # other optimizers than ParameterAverage have the first one only
        for scheme in self.schemes:
            if scheme is not None and scheme not in known:
                there = listed(map(repr, known)) or "its own average only: leave out schemes"
                raise ProgramError(f"EvaluateAverages: {shown(scheme)} is not averaged; there is {there}")
        return [self._named(name, scheme) for scheme in self.schemes for name in trainer.measures]

    def on_epoch_end(self, trainer: Trainer, values: Row) -> None:
        for scheme in self.schemes:
            for name, value in trainer.evaluate_averages(scheme).items():
                values[self._named(name, scheme)] = value

    def _named(self, name: str, scheme: Scheme | None) -> str:
        return f"averaged_val_{name}" + ("" if len(self.schemes) == 1 else f"[{scheme!r}]")
