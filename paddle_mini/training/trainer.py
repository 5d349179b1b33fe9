# Trainer: a loss, its programs and where they run; trains over epochs of data, evaluates, resumes.
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any

from .. import roles
from .._core import ProgramError, Scope, printable
from ..averaging.scheme import Scheme
from ..errors import listed, shown
from ..executor import Executor
from ..guards import default_main_program, default_startup_program
from ..inspection import finite
from ..io.checkpoint import CheckpointManager
from ..lr.scheduler import LRScheduler
from ..optimizer.averaging_optimizer import AveragingOptimizer
from ..optimizer.parameter_average import ParameterAverage
from ..optimizer.wrapper import chain
from ..program import Program
from ..scope import global_scope
from ..variable import Variable
from .batches import Batches
from .callbacks import Callback, EvaluateAverages
from .history import History
from .loop import Loop, Means
from .progress import Progress


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
        for name, value, kind in (
            ("startup", startup, Program),
            ("test", test, Program),
            ("exe", exe, Executor),
            ("scope", scope, Scope),
        ):
            if value is not None and not isinstance(value, kind):
                raise ProgramError(f"Trainer: {name} is of type {type(value).__name__}, it must be of type {kind.__name__}")
        self.measures: dict[str, Variable] = {"loss": loss, **(metrics or {})}
        self._require_values(metrics)
        self.main: Program = loss.block.program
        if startup is None:
            if self.main is not default_main_program():
                raise ProgramError("Trainer: the loss is not in the default main program: give its startup program, startup=")
            startup = default_startup_program()
        self.startup, self._given_test = startup, test
        self._require_optimizer(optimizer, averaging)
        self.optimizer = optimizer if averaging is None else ParameterAverage(optimizer, averaging)
        known = chain(self.optimizer) if optimizer else [one for all_, _ in self.main.minimizers.values() for one in chain(all_)]
        self.average: AveragingOptimizer | None = next((one for one in known if isinstance(one, AveragingOptimizer)), None)
        self.exe = Executor() if exe is None else exe
        self.scope: Scope = global_scope() if scope is None else scope
        self.initialize = initialize
        self.history, self.epoch, self.step = History(), 0, 0
        self.planned = 0
        """Epochs of all calls of fit()."""
        self.validation: Batches | None = None
        self.checkpoints: CheckpointManager | None = None
        self._test: Program | None = None
        self._is_initialized = False

    @property
    def test(self) -> Program:
        """The program for validation."""
        if self._test is None:
            self._test = self.main.clone(for_test=True) if self._given_test is None else self._given_test
            names = self._test.global_block().vars
            missing = next((name for name, var in self.measures.items() if var.name not in names), None)
            if missing is not None:
                self._test, name = None, printable(self.measures[missing].name)
                raise ProgramError(
                    f"validation: the test program does not have {shown(missing)}, '{name}': make it by clone(for_test=True), "
                    "without prune()"
                )
        return self._test

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
        """Trains for `epochs` more epochs; see pm.fit for the arguments."""
        _require_counts(
            epochs=epochs, batch_size=batch_size, steps_per_epoch=steps_per_epoch, overfit_batches=overfit_batches or None
        )
        if schedule not in ("step", "epoch"):
            raise ProgramError(f"fit: schedule is {shown(schedule)}, it must be 'step' or 'epoch'")
        limit = 1 if fast_dev_run else overfit_batches or None
        epochs = 1 if fast_dev_run else epochs
        order = seed if shuffle and limit is None else None
        batches = Batches("data", data, self.main, batch_size, order, steps_per_epoch, self.planned)
        held_out = None if validation is None else Batches("validation", validation, self.test, batch_size)
        batches.check(epochs)
        if held_out is not None:
            held_out.check(epochs)
        if limit is not None:
            batches = Batches("data", list(islice(batches.epoch(0), limit)), self.main)
        if held_out is not None and (fast_dev_run or held_out.is_one_pass):  # averages read it a second time
            held_out = Batches("validation", list(islice(held_out.epoch(0), 1 if fast_dev_run else None)), self.test)
        if fast_dev_run:
            checkpoints, loggers = None, ()
        self.validation = held_out
        callbacks = list(callbacks)
        if self.average and held_out and not any(isinstance(one, EvaluateAverages) for one in callbacks):
            callbacks.insert(0, EvaluateAverages())
        own: CheckpointManager | None = None
        if checkpoints is None or isinstance(checkpoints, CheckpointManager):
            self.checkpoints = checkpoints
        else:
            self.checkpoints = own = CheckpointManager(checkpoints, every_seconds=600)
        try:
            columns = self._columns(callbacks)
            for callback in callbacks:
                callback.on_fit_begin(self, columns)
            self._build()
            loop = Loop(self, batches, callbacks, loggers, Progress(progress), schedule, by_epoch=own is not None)
            with finite.check_finite() if check_finite else nullcontext():
                loop.run(epochs)
        finally:
            if own is not None:
                own.close()
        return self.history

    def evaluate(
        self, data: Any, batch_size: int = 32, average: bool | Scheme = False, steps: int | None = None
    ) -> dict[str, float]:
        """The means of loss and metrics over all rows of the data, as fit's validation computes them. average: with averaged
        parameters, True: those of the first scheme."""
        batches = Batches("data", data, self.test, batch_size, steps=steps)
        batches.check(1)
        if average is False:
            return self._means(batches)
        return self._averaged(batches, None if average is True else average)

    def evaluate_averages(self, scheme: Scheme | None = None) -> dict[str, float]:
        """evaluate() of the validation data of the running fit(), with averaged parameters."""
        return {} if self.validation is None else self._averaged(self.validation, scheme)

    def stop(self, reason: str) -> None:
        """Ends the running fit() after the current step, or epoch, as if it were the last one."""
        self.history.stopped = reason

    def has_averages(self, scheme: Scheme | None = None) -> bool:
        """Whether a step has been averaged. Before it the averages are the parameters, and apply() would warn in each epoch."""
        return self.average is not None and self.average.statistics(self.scope, scheme).updates > 0

    def schedules(self) -> list[LRScheduler]:
        """The program's learning-rate schedules."""
        return list({id(one): one for one in self.main.schedules.values() if isinstance(one, LRScheduler)}.values())

    def _averaged(self, batches: Batches, scheme: Scheme | None) -> dict[str, float]:
        if self.average is None:
            raise ProgramError("evaluate: the program has no averages")
        with self.average.apply(self.exe, self.scope, scheme) if self.has_averages(scheme) else nullcontext():
            return self._means(batches)

    def _means(self, batches: Batches) -> dict[str, float]:
        means = Means(self.measures)
        for feed in batches.epoch(self.epoch):
            means.add(self.exe.run(self.test, feed, list(self.measures.values()), self.scope), batches.rows(feed))
        return means.values()

    def validated(self) -> dict[str, float]:
        """The values of the validation data of the running fit()."""
        return {} if self.validation is None else {f"val_{name}": value for name, value in self._means(self.validation).items()}

    def initialized(self) -> None:
        """Runs the startup program, once."""
        if not self._is_initialized:
            if self.initialize:
                self.exe.run(self.startup, scope=self.scope)
            else:
                declared = self.startup.global_block().vars
                variables = (var.name for var in self.main.list_vars() if var.persistable)
                without = [name for name in variables if name not in self.scope and name in declared]
                if without:
                    self.exe.run(self.startup.prune([], without), scope=self.scope)
        self._is_initialized = True

    def restored(self) -> None:
        """Notes that a checkpoint gave the variables their values."""
        self._is_initialized = True

    def _build(self) -> None:
        if self.optimizer is not None:
            self.optimizer.minimize(self.measures["loss"], self.startup)
            self.optimizer = None

    def _columns(self, callbacks: Sequence[Callback]) -> list[str]:
        own = [*self.measures, *(f"val_{name}" for name in self.measures if self.validation)]
        return [*own, *(name for callback in callbacks for name in callback.columns(self))]

    def _require_values(self, metrics: Mapping[str, Variable] | None) -> None:
        for name, var in self.measures.items():
            if not isinstance(var, Variable):
                raise ProgramError(f"Trainer: {shown(name)} is {shown(var)}, it must be a Variable")
            if any(dim != 1 for dim in var.shape):
                raise ProgramError(f"Trainer: {shown(name)} has shape {list(var.shape)}, not one element: take its mean")
            if var.block.program is not self.measures["loss"].block.program:
                raise ProgramError(f"Trainer: {shown(name)} is a variable of another program than the loss")
        if metrics and ("loss" in metrics or not all(isinstance(name, str) for name in metrics)):
            raise ProgramError(f"Trainer: names of metrics must be strings other than 'loss': {listed(metrics)}")

    def _require_optimizer(self, optimizer: Any, averaging: Any) -> None:
        trains = any(op.attr("op_role", 0) & roles.OPTIMIZE for block in self.main.blocks for op in block.ops)
        if optimizer is None and (averaging is not None or not trains):
            raise ProgramError("Trainer: give optimizer=; the program of the loss has none")
        if optimizer is not None and trains:
            raise ProgramError(
                "Trainer: the program of the loss has an optimizer already: leave out optimizer=, and to continue with the "
                "parameters as they are, initialize=False; or build the network in a new program"
            )


def _require_counts(**counts: Any) -> None:
    for name, value in counts.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ProgramError(f"fit: {name} is {shown(value)}, it must be an integer, at least 1")
