# Trainer: a loss, its programs and where they run; trains over epochs of data, evaluates, resumes.
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from .._core import ProgramError, Scope
from ..averaging.scheme import Scheme
from ..executor import Executor
from ..guards import default_main_program, default_startup_program
from ..inspection import finite
from ..io.checkpoint import CheckpointManager
from ..optimizer.averaging_optimizer import AveragingOptimizer
from ..optimizer.parameter_average import ParameterAverage
from ..optimizer.wrapper import chain
from ..program import Program
from ..renamed import answers_names, takes_other_names
from ..scope import global_scope
from ..variable import Variable
from .arguments import (
    require_callbacks,
    require_counts,
    require_kinds,
    require_loggers,
    require_measures,
    require_one_optimizer,
    require_own_folders,
    require_test,
)
from .batches import Batches
from .callbacks import Callback, EvaluateAverages
from .history import History
from .loop import Loop
from .means import means_of
from .position import opened
from .progress import Progress
from .schedules import require_unit
from .startup import run_startup


@answers_names
class Trainer:
    """Trains the program of a loss.

    loss: a Variable of one element. optimizer: minimizes it, at the first fit(); None: the program has its optimizer already.
    metrics: further Variables of one element, by the names that they have in values. averaging: a scheme of pm.averaging or a
    list of them: short for ParameterAverage(optimizer, averaging).
    startup: the startup program of the loss's program; None: the default one. test: the program for validation, which must
    compute loss and metrics; None: clone(for_test=True) of the loss's program. exe, scope: where it runs; None: an
    Executor(CPUPlace()), the global scope. initialize: whether the first fit() runs the startup program; False: only for
    variables that have no value, so that loaded parameters stay.

    ProgramError for arguments that don't belong together; programs and scope change at the first fit() only.

    >>> trainer = pm.Trainer(loss, pm.optimizer.SGD(0.1))
    >>> history = trainer.fit({"x": inputs, "y": targets}, epochs=2, progress=False)
    >>> trainer.evaluate({"x": inputs, "y": targets})["loss"] < history["loss"][0]
    True
    """

    @takes_other_names
    def __init__(
        self,
        loss: Variable,
        optimizer: Any = None,
        metrics: Mapping[str, Variable] | None = None,
        averaging: Scheme | Sequence[Scheme] | None = None,
        startup: Program | None = None,
        test: Program | None = None,
        exe: Executor | None = None,
        scope: Scope | None = None,
        initialize: bool = True,
    ):
        require_kinds(startup=(startup, Program), test=(test, Program), exe=(exe, Executor), scope=(scope, Scope))
        require_measures(loss, {} if metrics is None else metrics)
        self.measures: dict[str, Variable] = {"loss": loss, **(metrics or {})}
        self.main: Program = loss.block.program
        if startup is None:
            if self.main is not default_main_program():
                raise ProgramError("Trainer: the loss is not in the default main program: give its startup program, startup=")
            startup = default_startup_program()
        self.startup, self._given_test = startup, test
        require_one_optimizer(self.main, optimizer, averaging)
        self.optimizer = optimizer if averaging is None else ParameterAverage(optimizer, averaging)
        self._is_new = self.optimizer is not None
        """Whether the optimizer has not minimized the loss yet."""
        known = chain(self.optimizer) if optimizer else [one for all_, _ in self.main.minimizers.values() for one in chain(all_)]
        self.average: AveragingOptimizer | None = next((one for one in known if isinstance(one, AveragingOptimizer)), None)
        self.exe = Executor() if exe is None else exe
        self.scope: Scope = global_scope() if scope is None else scope
        self.initialize = initialize
        self.history, self.epoch, self.step = History(), 0, 0
        self.planned = 0
        """Epochs of all complete calls of fit()."""
        self.unfinished: str | None = None
        """The folder of the checkpoints of the last fit(), if it was not complete and had some."""
        self.is_trial = False
        """Whether the running fit() is a fast_dev_run, in which callbacks write no files."""
        self.validation: Batches | None = None
        self.checkpoints: CheckpointManager | None = None
        self._test: Program | None = None
        self.has_values = False
        """Whether the startup program has run, or a checkpoint was restored."""

    @property
    def test(self) -> Program:
        """The program for validation."""
        if self._test is None:
            test = self.main.clone(for_test=True) if self._given_test is None else self._given_test
            require_test(test, self.measures)
            self._test = test
        return self._test

    @takes_other_names
    def fit(
        self,
        data: Any,
        epochs: int = 1,
        validation: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int = 0,
        steps_per_epoch: int | None = None,
        callbacks: Sequence[Callback] = (),
        loggers: Sequence[Any] = (),
        checkpoints: str | os.PathLike[str] | CheckpointManager | None = None,
        schedule: str = "step",
        progress: bool = True,
        fast_dev_run: bool = False,
        overfit_batches: int = 0,
        check_finite: bool = False,
    ) -> History:
        """Trains for `epochs` more epochs; see pm.fit for the arguments.

        After an interrupt or an error, a call with the same folder of checkpoints continues at the newest one, with the epochs of
        the call that was not complete; any other call begins the epoch from its first batch, with the values as they are.
        """
        require_counts(
            "fit", epochs=epochs, batch_size=batch_size, steps_per_epoch=steps_per_epoch, overfit_batches=overfit_batches or None
        )
        require_unit(schedule)
        require_callbacks(callbacks)
        require_loggers(loggers)
        require_own_folders(callbacks, checkpoints)
        limit = 1 if fast_dev_run else overfit_batches or None
        epochs = 1 if fast_dev_run else int(epochs)
        order = seed if shuffle and limit is None else None
        batches = Batches("data", data, self.main, batch_size, order, steps_per_epoch, self.epoch)
        held_out = None if validation is None else Batches("validation", validation, self.test, batch_size)
        batches.check(epochs)
        if held_out is not None:
            held_out.check(epochs)
        if limit is not None:
            batches = batches.kept(limit)
        if held_out is not None and (fast_dev_run or held_out.is_one_pass):  # averages read it a second time
            held_out = held_out.kept(1 if fast_dev_run else None)
        if fast_dev_run:
            checkpoints, loggers = None, ()
        self.validation, self.is_trial = held_out, fast_dev_run
        callbacks = list(callbacks)
        if self.average and held_out and not any(isinstance(one, EvaluateAverages) for one in callbacks):
            callbacks.insert(0, EvaluateAverages())
        with finite.check_finite() if check_finite else nullcontext(), opened(checkpoints) as self.checkpoints:
            columns = [*self.measures, *(f"val_{name}" for name in self.measures if held_out)]
            columns += [name for callback in callbacks for name in callback.columns(self)]
            self.history.stopped = None
            for callback in callbacks:
                callback.on_fit_begin(self, columns)
            if self.checkpoints is not None:
                self.checkpoints.prepare()
            if self._is_new:
                self.optimizer.minimize(self.measures["loss"], self.startup)
                # Mixed precision has changed the types of variables: the copy for testing is made again.
                self._is_new, self._test = False, None
            Loop(self, batches, callbacks, loggers, Progress(progress), schedule, checkpoints is not self.checkpoints).run(epochs)
        return self.history

    def evaluate(
        self, data: Any, batch_size: int = 32, average: bool | Scheme = False, steps: int | None = None
    ) -> dict[str, float]:
        """The means of loss and metrics over all rows of the data, as fit's validation computes them. average: with averaged
        parameters, True: those of the first scheme."""
        require_counts("evaluate", batch_size=batch_size, steps=steps)
        batches = Batches("data", data, self.test, batch_size, steps=steps, first_epoch=self.epoch)
        batches.check(1)
        return self._means(batches, average)

    def evaluate_averages(self, scheme: Scheme | None = None) -> dict[str, float]:
        """evaluate() of the validation data of the running fit(), with averaged parameters."""
        return {} if self.validation is None else self._means(self.validation, scheme or True)

    def stop(self, reason: str) -> None:
        """Ends the running fit() after the current step, or epoch, as if it were the last one."""
        self.history.stopped = reason

    def has_averages(self, scheme: Scheme | None = None) -> bool:
        """Whether a step has been averaged. Before it the averages are the parameters, and apply() would warn in each epoch."""
        return self.average is not None and self.average.statistics(self.scope, scheme).updates > 0

    def _means(self, batches: Batches, average: bool | Scheme = False) -> dict[str, float]:
        if average is not False and self.average is None:
            raise ProgramError("evaluate: the program has no averages")
        scheme = None if isinstance(average, bool) else average
        averages = self.average if average is not False and self.has_averages(scheme) else None
        with averages.apply(self.exe, self.scope, scheme) if averages else nullcontext():
            return means_of(self.measures, self.test, batches, self.epoch, self.exe, self.scope)

    def validated(self) -> dict[str, float]:
        """The values of the validation data of the running fit()."""
        values = {} if self.validation is None else self._means(self.validation)
        return {f"val_{name}": value for name, value in values.items()}

    def give_values(self) -> None:
        """Runs the startup program, once."""
        if not self.has_values:
            run_startup(self.startup, self.main, self.exe, self.scope, only_missing=not self.initialize)
        self.has_values = True
