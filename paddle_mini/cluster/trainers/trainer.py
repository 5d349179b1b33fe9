# Trainer: the interface for training in user code, inside and outside of a job.
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..._core import Scope
from ...errors import shown
from ...executor import Executor, as_fetches
from ...io.model import program_to_save
from ...io.model_in_pieces import InPieces
from ...io.parameters import Path
from ...optimizer.averaging_optimizer import averaging_optimizers
from ...program import Program
from ...variable import Variable
from ..engine import Link
from ..errors import Malformed
from ..job_settings import JobSettings
from ..protocol import AskSave
from . import delta_step, gradient_step
from .given_rates import GivenRates
from .membership import Membership
from .reading import Reading, list_of
from .saving import Write, model_writer, save_alone, save_elected, values_of
from .trainer_process import TrainerProcess
from .transpile import transpile

Vars = Sequence[str | Variable]


class TrainStep(Protocol):
    """Strategy for one training step."""

    def run(self, feed: Mapping[str, Any], fetch_list: Sequence[Any], return_numpy: bool) -> list[Any]: ...

    def flush(self) -> None: ...

    def settle(self) -> None: ...

    def begin_again(self) -> None: ...


class Trainer:
    """A trainer of a job, as join() returns it; outside of a job, the only one. number: its index, from 0; trainers:
    how many the job started with.

    main, exe, scope: as join() was given them.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.SGD(0.1).minimize(w)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> trainer = pm.cluster.join(exe=exe)
        >>> [trainer.run(fetch_list=[w])[0].shape for chunk in trainer.batches(["part-0", "part-1"])]
        [(1,), (1,)]
    """

    def __init__(self, main: Program, exe: Executor, scope: Scope):
        self.number, self.trainers = 0, 1
        self._main, self._exe, self._scope = main, exe, scope

    def run(self, feed: Mapping[str, Any] | None = None, fetch_list: Vars | None = None, return_numpy: bool = True) -> list[Any]:
        """Makes one step on a batch, in place of Executor.run, with the parameters of the job.

        Returns the values of fetch_list. NotFinite if a gradient is not finite; then nothing has changed, except that in modes
        delta and elastic the trainer goes back to its last exchange. Timeout if the servers do not answer, or, in modes sync and
        collective, other trainers do not reach this step.
        """
        return self._exe.run(self._main, feed, fetch_list, self._scope, return_numpy)

    def steps(
        self, feeds: Iterable[Mapping[str, Any]], fetch_list: Vars | None = None, merged: int = 1, return_numpy: bool = True
    ) -> Iterator[list[Any]]:
        """Makes a step on each of several batches, and yields the values of fetch_list, as run() returns them.

        In mode async of a job batches are read ahead, and messages go to and from the servers while the trainer computes:
        `merged` batches are computed with the same parameters, which lack the trainer's own gradients of the `merged`
        batches before, and servers apply the mean of their gradients, as that of one larger batch. Everywhere else each
        batch is a step of run().
        feeds: what run() is fed, one after another, in mode async without arrays that are filled again before their results come.
        merged: at least 1; Malformed for another number. Errors are those of run(); one that a server finds is raised at a later
        batch."""
        _require_merged(merged)
        return (self.run(feed, fetch_list, return_numpy) for feed in feeds)

    def batches(self, chunks: Sequence[Any], chunks_per_task: int = 1, passes: int = 1) -> Iterator[Any]:
        """The chunks, JSON values that describe what to read, for this trainer: each goes to one trainer in each pass.
        The chunks of a lost trainer go to another one. All trainers pass the same list. A further call reads the passes that
        follow; in a job a loop that was left early is continued by it, and what was read last may be read again."""
        some = list_of(chunks, passes)
        for _ in range(passes):
            yield from some

    def set_pass(self, number: int) -> None:
        """Sets the pass over the data, from 0, of the next batches; batches() calls it itself. Learning rates of the
        policy PassManual depend on it: each gradient has the rate of its own pass, and the mean of several that of the
        latest. Malformed for an invalid number."""
        if type(number) is not int or not 0 <= number < 1 << 63:
            raise Malformed(f"pass {shown(number)}: it must be an integer, at least 0 and below 2^63")

    def pull(self) -> None:
        """Copies the servers' parameters, tables with all rows, into the scope, including all updates of this trainer:
        for evaluation, or for saving them directly. In modes delta and elastic training continues from them."""

    def save_model(self, directory: Path, feed_vars: Vars, fetch_vars: Vars, seconds: float = 60.0) -> str | None:
        """See cluster.save_model."""
        names = self._names(feed_vars, fetch_vars)
        values = values_of(lambda: self._averages(names))
        return save_alone(directory, model_writer(values, feed_vars, fetch_vars, self._main))

    def _names(self, feed_vars: Vars, fetch_vars: Vars) -> list[str]:
        """The persistable variables of the model."""
        program_to_save(feed_vars, fetch_vars, self._main)
        pruned = self._main.clone(for_test=True).prune(feed_vars, fetch_vars)
        return [var.name for var in pruned.list_vars() if var.persistable]

    def _averages(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        with ExitStack() as applied:
            for average in averaging_optimizers(one for one, _ in self._main.minimizers.values()):
                applied.enter_context(average.apply(self._exe, self._scope))
            return {name: self._scope.get(name) for name in names}


def _require_merged(merged: Any) -> None:
    if type(merged) is not int or merged < 1:
        raise Malformed(f"merged is {shown(merged)}, it must be an integer, at least 1")


def save_if_elected(membership: Membership, directory: Path, seconds: float, write: Write) -> str | None:
    """Saves if the coordinator elects this trainer, which stays elected while it writes: for as long as it stays in the
    job. Then no other one is elected for `seconds`."""
    where: dict[str, Any] = {"directory": os.path.abspath(directory), "seconds": float(seconds)}

    def approve(saves: bool) -> int | None:
        if not saves:
            membership.stop_renewing()
        return membership.request(AskSave, **where, saves=saves).token

    renewing = partial(membership.renewing, AskSave, **where, saves=True)
    return save_elected(where["directory"], str(membership.number), approve, write, renewing)


class JobTrainer(Trainer):
    """A trainer of a job. counts: as for TrainerProcess."""

    def __init__(self, number: int, link: Link, settings: JobSettings, main: Program, exe: Executor, scope: Scope):
        super().__init__(main, exe, scope)
        self.number, self.trainers = number, settings.trainers
        make: Callable[[TrainerProcess], TrainStep]
        if settings.by_trainers:
            remote = delta_step.remote_parameters(main)
            make = partial(delta_step.DeltaStep, main=main, exe=exe, scope=scope)
        else:
            transpiled = transpile(main)
            rates = GivenRates(main, transpiled.trained, scope, settings.mode)
            remote = gradient_step.remote_parameters(transpiled)
            make = partial(gradient_step.GradientStep, transpiled=transpiled, exe=exe, scope=scope, rates=rates)
        self._remote = {one.info.name: one for one in remote}
        self._process = TrainerProcess(number, link, settings, remote, self._values)
        self._turn = self._process.membership.turn
        self._train_step = make(self._process)
        withdraw = self._train_step.settle if settings.mode == "sync" else None
        self._reading = Reading(self._process.client, self._process.membership, self._train_step.flush, withdraw)
        self.counts = self._process.counts

    def begin(self) -> None:
        """Joins the job; returns when training can begin."""
        self._process.begin()
        self._take([name for name, one in self._remote.items() if one.fixed])

    def run(self, feed: Mapping[str, Any] | None = None, fetch_list: Vars | None = None, return_numpy: bool = True) -> list[Any]:
        with self._turn:
            results = self._train_step.run({} if feed is None else feed, as_fetches(fetch_list), return_numpy)
            self._process.pace.steps += 1
        return results

    def steps(
        self, feeds: Iterable[Mapping[str, Any]], fetch_list: Vars | None = None, merged: int = 1, return_numpy: bool = True
    ) -> Iterator[list[Any]]:
        if self._process.settings.mode != "async":
            return super().steps(feeds, fetch_list, merged, return_numpy)
        _require_merged(merged)
        assert isinstance(self._train_step, gradient_step.GradientStep)
        return self._counted(self._train_step.steps(feeds, as_fetches(fetch_list), merged, return_numpy))

    def _counted(self, steps: Iterator[list[Any]]) -> Iterator[list[Any]]:
        for results in steps:
            self._process.pace.steps += 1
            yield results

    def batches(self, chunks: Sequence[Any], chunks_per_task: int = 1, passes: int = 1) -> Iterator[Any]:
        return self._reading.chunks(chunks, chunks_per_task, passes, self.set_pass)

    def set_pass(self, number: int) -> None:
        super().set_pass(number)
        self._process.pass_number = number

    def pull(self) -> None:
        with self._turn:
            self._train_step.settle()
            self._take(list(self._remote))
            self._train_step.begin_again()

    def save_model(self, directory: Path, feed_vars: Vars, fetch_vars: Vars, seconds: float = 60.0) -> str | None:
        def values(names: Sequence[str]) -> Iterator[InPieces]:
            self._train_step.flush()  # in sync mode all servers are then at one step, as the next one needs this trainer
            remote = [(name, 0 if self._remote[name].average else None) for name in names if name in self._remote]
            pieces = self._process.pieces(remote)
            for name in names:
                yield next(pieces) if name in self._remote else InPieces.whole(self._scope.get(name))

        write = model_writer(values, feed_vars, fetch_vars, self._main)
        with self._turn:
            saved = save_if_elected(self._process.membership, directory, seconds, write)
        self._process.pace.saves += saved is not None
        return saved

    def finish(self) -> None:
        """Leaves the job after the last step."""
        with self._turn:
            self._train_step.settle()
            self._process.membership.end()

    def fail(self) -> None:
        """Sends pending log events before an error ends this trainer."""
        self._process.membership.flush_events()

    def kill(self) -> None:
        """Simulates a crash: sends no message."""
        self._process.membership.stop_heartbeat()

    def _values(self) -> dict[str, np.ndarray]:
        return {name: self._scope.get(name) for name in self._remote}

    def _take(self, names: Sequence[str]) -> None:
        for name, value in self._process.pull(names).items():
            self._scope.set(name, value)
