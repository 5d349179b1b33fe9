# CollectiveTrainer: the trainer of collective mode, which runs the whole program with the mean of all gradients.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..._core import Scope
from ...executor import Executor, as_fetches
from ...io.parameters import Path
from ...program import Program
from ...variable import name_of
from ..client import Client
from ..engine import TrainerLink
from ..errors import ClusterError, NotFinite
from ..job_settings import JobSettings
from ..process_log import ProcessLogger
from .exchange import Exchange, Outcome
from .gpu_gradients import gradients_of
from .gradient_memory import GradientMemory
from .host_gradients import SplitExecutors
from .membership import Membership
from .pace import Pace
from .peer import Peer
from .peers import Peers
from .reading import Reading
from .saving import model_writer, values_of
from .split_program import split_program
from .trainer import Trainer, Vars, save_if_elected
from .training_state import TrainingState

_log = ProcessLogger(__name__)


class CollectiveTrainer(Trainer):
    """After each step parameters, optimizer state and averages have the same bits on all trainers. Variables that the
    model itself updates, such as batch normalization's statistics, are local to each trainer.

    directory: of the job; the first of the trainers that made a step writes a checkpoint there when one is due.
    """

    def __init__(
        self, number: int, link: TrainerLink, settings: JobSettings, directory: str, main: Program, exe: Executor, scope: Scope
    ):
        super().__init__(main, exe, scope)
        self.number, self.trainers = number, settings.trainers
        self._split = split_program(main)
        self._optimizing = Executor(exe.place, allow_cpu_fallback=exe.allow_cpu_fallback)
        self._state = TrainingState(main, exe, self._optimizing, scope, directory, settings.checkpoint_seconds)
        fields = {
            gradient.name: (np.dtype(gradient.dtype), main.global_block().var(name).shape)
            for name, gradient in self._split.gradients.items()
        }
        self._pace = Pace()
        self._client = Client(link, **settings.client_options())
        self._membership = Membership(number, 0, self._client, settings.heartbeat_seconds, self._report)
        memory = GradientMemory.made(fields)
        own = Peer(settings.job, memory)
        executors = SplitExecutors(self._split, exe, self._optimizing, scope)
        self._gradients = gradients_of(executors, memory, own, settings)
        patient = Client(link, **{**settings.client_options(), "timeout": settings.lease})  # then a silent trainer is lost
        peers = Peers(link, self._client, patient, fields)
        address = link.serve(f"trainer {number}", own)
        self._turn = self._membership.turn
        self._exchange = Exchange(self._membership, self._client, self._gradients, own, address, peers, self._state)
        self._reading = Reading(self._client, self._membership, lambda: None, self._withdraw)

    def begin(self) -> None:
        """Joins the job; returns when this trainer has the common state."""
        self._membership.join()
        self._exchange.join()

    def run(self, feed: Mapping[str, Any] | None = None, fetch_list: Vars | None = None, return_numpy: bool = True) -> list[Any]:
        """As for Trainer. NotFinite if this trainer's gradient is not finite: the step uses the others' gradients. What only the
        optimizer computes is None after a step that others have completed without this trainer."""
        with self._turn:
            return self._run(feed, fetch_list, return_numpy)

    def _run(self, feed: Mapping[str, Any] | None, fetch_list: Vars | None, return_numpy: bool) -> list[Any]:
        self._rejoin()
        if self._exchange.is_first:
            self._state.save_if_due(self._step)  # now, as the user has advanced the schedules since the last step
        fetches = [name_of(item) for item in as_fetches(fetch_list)]
        late = [name for name in fetches if name in self._split.late]
        computed = [name for name in fetches if name not in self._split.late and name not in self._split.changed]
        outcome = Outcome.AGAIN
        while outcome is Outcome.AGAIN:
            values, bad = self._gradients.compute(feed, computed, return_numpy)
            outcome = self._exchange.mean(has_gradient=bad is None)
        found: dict[str, Any] = dict.fromkeys(late)
        if outcome is Outcome.MEAN:
            found.update(zip(late, self._optimize(late, return_numpy)))
        if bad is not None:
            raise NotFinite(
                f"the gradient of trainer {self.number} for step {self._step - 1} is not finite in '{bad}': "
                "the step uses the others' gradients"
            )
        self._pace.steps += 1
        found.update(zip(computed, values))
        return [found[name] if name in found else self._scope.get(name) for name in fetches]

    def _optimize(self, late: list[str], return_numpy: bool) -> list[Any]:
        try:
            return self._gradients.optimize(late, return_numpy)
        except BaseException:  # an executor that fails leaves the scope as it was
            self._exchange.undo()
            raise

    @property
    def _step(self) -> int:
        assert self._exchange.step_id is not None
        return self._exchange.step_id.step

    def batches(self, chunks: Sequence[Any], chunks_per_task: int = 1, passes: int = 1) -> Iterator[Any]:
        return self._reading.chunks(chunks, chunks_per_task, passes, self.set_pass)

    def pull(self) -> None:
        """Joins the rendezvous again and loads the common state, if this trainer had withdrawn to wait for data."""
        with self._turn:
            self._rejoin()

    def save_model(self, directory: Path, feed_vars: Vars, fetch_vars: Vars, seconds: float = 60.0) -> str | None:
        names = self._names(feed_vars, fetch_vars)
        write = model_writer(values_of(lambda: self._averages(names)), feed_vars, fetch_vars, self._main)
        with self._turn:
            self._rejoin()
            saved = save_if_elected(self._membership, directory, seconds, write)
        self._pace.saves += saved is not None
        return saved

    def finish(self) -> None:
        """Leaves the job after the last step; the last trainer writes a checkpoint. The others wait for that, or for a further
        step that some make without this trainer."""
        with self._turn:
            self._rejoin()
            self._exchange.end(when_last=lambda: self._state.save(self._step))
            self._membership.end()

    def fail(self) -> None:
        """Before an error ends this trainer: writes the last checkpoint of the job, if this trainer has the newest state, and
        sends pending log events. Another thread that makes a step meanwhile learns of the end from the coordinator."""
        if self._turn.acquire(blocking=False):
            try:
                self._exchange.fail()
            except ClusterError as error:  # the error that ends the trainer matters more
                _log.info("%s", error)
            finally:
                self._turn.release()
        self._membership.flush_events()

    def kill(self) -> None:
        """Simulates a crash: sends no message."""
        self._membership.stop_heartbeat()

    @property
    def counts(self) -> dict[str, int]:
        """Gradients of this trainer, as in JobResult.counts."""
        sent, applied = self._exchange.sent, self._exchange.applied
        return {"sent": sent, "applied": applied, "dropped": sent - applied, "repeated": 0}

    def _withdraw(self) -> None:
        if self._exchange.inside:
            self._exchange.leave(when_last=lambda: None)

    def _rejoin(self) -> None:
        if self._membership.is_lost:
            self._membership.join()
        if not self._exchange.inside:
            self._exchange.join()

    def _report(self) -> dict[str, Any]:
        return {**self._pace.report(), "checkpoint_errors": self._state.errors}
