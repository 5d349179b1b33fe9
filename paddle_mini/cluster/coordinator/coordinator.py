# Coordinator: membership, initialisation of servers, election of the trainer that saves, and data tasks of a job.
from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, get_args

from ..collective_protocol import GetAddresses, Stop
from ..engine import Answer, Batching, Respond
from ..errors import Malformed, WrongJob
from ..process_log import EventBuffer, events_sent, log_context, pending_events
from ..protocol import (
    AskSave,
    BeginInit,
    EndInit,
    EndTasks,
    GetJobStatus,
    GetTasks,
    Heartbeat,
    Join,
    Leave,
    Register,
    SetData,
    View,
)
from ..replies import Done, HeartbeatReply, JobMembers, JobStatus, Left, Saver, Tasks, TasksEnded, Welcome
from ..service import Answering
from ..trainer_checkpoints import saved_step
from ..values import FromMember, FromTrainer, MemberId, Role
from ..wire import Arrays
from .coordinator_file import restoring
from .coordinator_settings import CoordinatorSettings
from .durable_state import DurableState
from .initialisation import Initialisation
from .job_facts import JobFacts
from .leases import LONGEST, Leases
from .members import Members
from .membership_changes import MembershipChanges
from .rendezvous import Rendezvous, RendezvousRequest
from .tasks import Tasks as DataTasks

_SAVE = "save "
Q = TypeVar("Q")
A = TypeVar("A")


class Coordinator(Answering, Batching):
    """The service of a job that all other processes use; it handles no parameter values.

    directory: of the durable state, which is on the disk before the reply that depends on it is given; a new Coordinator
    resumes from it. clock: monotonic time in seconds.

    A request whose change can't be written has no effect: it fails with the kind storage and can be repeated. When
    leases end is not written: after a restart they have their whole time again. Raises StorageError for a directory or
    file that can't be used, and WrongJob for one of another job.
    """

    def __init__(self, settings: CoordinatorSettings, directory: str, clock: Callable[[], float] = time.monotonic):
        self.settings, self._clock = settings, clock
        self._now = clock()
        self._event_buffer = EventBuffer()
        instant, self._job_facts = (lambda: self._now), JobFacts(settings.run, settings.trainers)
        self._tasks = DataTasks(instant, settings.task_timeout, settings.task_failures)
        self._leases = Leases(instant)
        self._trainers = Members("trainer", instant, settings.lease, None, self._trainer_ends)
        self._servers = Members("server", instant, settings.lease, settings.servers, lambda number, lost: None)
        self._initialisation = Initialisation(settings, self._leases, self._servers, self._renew)
        newest = partial(saved_step, directory)
        self._rendezvous = Rendezvous(self._incarnations, self._job_facts, self._trainers.require, self._note_end, newest)
        self._durable = DurableState(
            directory,
            settings.job,
            {
                "job": self._job_facts,
                "tasks": self._tasks,
                "leases": self._leases,
                "trainers": self._trainers,
                "servers": self._servers,
                "initialisation": self._initialisation,
            },
        )
        self._changes = MembershipChanges(0)
        if self._durable.found:
            with restoring(directory):
                self._resume()
        self._durable.begin()
        kept: dict[Any, Callable[[Any], Any]] = {  # their changes are durable
            Join: self._join,
            Register: self._register,
            BeginInit: self._initialisation.begin,
            EndInit: self._initialisation.end,
            AskSave: self._ask_save,
            SetData: self._set_data,
            GetTasks: self._get_tasks,
            EndTasks: self._end_tasks,
        }
        seen: dict[Any, Callable[[Any], Any]] = {
            Leave: self._leave,
            Heartbeat: self._heartbeat,
            View: self._view,
            GetJobStatus: self._status,
            GetAddresses: self._rendezvous.addresses,
            Stop: lambda request: self._rendezvous.stop(),
            **dict.fromkeys(get_args(RendezvousRequest), self._rendezvous_request),
        }
        super().__init__(
            settings.job,
            {
                **{kind: partial(self._look, partial(self._keep, do)) for kind, do in kept.items()},
                **{kind: partial(self._look, do) for kind, do in seen.items()},
            },
        )

    def _resume(self) -> None:
        self._job_facts.resume(self.settings.run)
        self._trainers.renew_all()
        self._servers.renew_all()
        self._changes = MembershipChanges(self._membership)

    def handle(self, header: bytes, arrays: Sequence[Any]) -> tuple[bytes, Arrays]:
        answers: list[Any] = []
        with log_context("coordinator"):
            super().take(header, arrays, answers.append, 0.0)
            if not answers:
                self._durable.sync()
        return answers[0]

    def take(
        self, header: bytes, arrays: Sequence[Any], respond: Respond, patience: float, memory: memoryview | None = None
    ) -> None:
        with log_context("coordinator"):
            super().take(header, arrays, respond, patience, memory)
            if not self.batched or self._durable.is_late:
                self._durable.sync()

    def flush(self) -> None:
        with log_context("coordinator"):
            self._durable.sync()

    def deliver(self, respond: Respond, answer: Answer) -> None:
        self._durable.reply(respond, answer)

    def tick(self) -> None:
        """Removes trainers and servers whose leases have expired; called regularly, also without requests."""
        with log_context("coordinator"):
            self._pass_time()
            self.release()
            self._durable.sync()

    def rest(self) -> None:
        self._durable.close()

    def _pass_time(self) -> None:
        self._now = max(self._now, self._clock())
        self._trainers.drop_lost()
        self._servers.drop_lost()

    @property
    def _membership(self) -> int:
        return self._trainers.version + self._servers.version

    def _look(self, do: Callable[[Q], A], request: Q) -> A:
        self._pass_time()  # one request is one instant
        return do(request)

    def _keep(self, do: Callable[[Q], A], request: Q) -> A:
        return self._durable.change(partial(do, request))

    # Members

    def _join(self, request: Join) -> Welcome:
        before, was_started = self._membership, self._job_facts.started
        number = self._trainers.join(request.key, request.trainer, {})
        self._job_facts.note_join(self._trainers.present)
        if self._membership != before:
            self._changes.note(self._membership, number)
        return self._welcome(self._trainers, number, before if was_started else None)

    def _register(self, request: Register) -> Welcome:
        if request.token is not None and request.token > self._leases.token:
            raise WrongJob(
                "the server was initialised in a job that this coordinator does not know: its "
                "coordinator.json was lost or replaced"
            )
        facts = {"address": request.address, "initialised": self._initialisation.is_finished(request.token)}
        return self._welcome(self._servers, self._servers.join(request.key, request.server, facts), None)

    def _welcome(self, members: Members, number: int, since: int | None) -> Welcome:
        return Welcome(
            number,
            members.present[number].incarnation,
            self._membership,
            self.settings.lease,
            dict(self.settings.facts),
            self._job_facts.started,
            since,
        )

    def _heartbeat(self, request: Heartbeat) -> HeartbeatReply:
        self._reported(request)
        return HeartbeatReply(self._membership, self._job_facts.started)

    def _leave(self, request: Leave) -> Left:
        members, before = self._members(request), self._membership
        if not members.has(request.number, request.incarnation):  # the message is repeated
            return Left(self._membership, self._job_facts.started, None)

        def leave() -> None:
            if request.ends and request.role is Role.TRAINER:
                self._job_facts.note_end(request.number, True)
            members.leave(request.number, request.incarnation)

        self._durable.change(leave)
        members.note_report(request.number, request.report, request.latencies)
        self._event_buffer.add(request.events)
        return Left(self._membership, self._job_facts.started, before)

    def _reported(self, request: FromMember) -> None:
        members = self._members(request)
        members.renew(request.number, request.incarnation)
        members.note_report(request.number, request.report, request.latencies)
        self._event_buffer.add(request.events)

    def _members(self, request: FromMember) -> Members:
        return self._trainers if request.role is Role.TRAINER else self._servers

    def _renew(self, request: FromTrainer) -> str:
        """Renews the lease of the trainer that sent the request; returns its number as text."""
        self._trainers.renew(request.trainer, request.incarnation)
        return str(request.trainer)

    def _trainer_ends(self, number: int, lost: bool) -> None:
        if not lost:
            self._job_facts.note_leave(number)
        self._changes.note(self._membership, number)
        self._rendezvous.end(number)
        self._tasks.release(str(number), failed=lost)
        self._initialisation.abandon(str(number))

    def _view(self, request: View) -> JobMembers:
        present = self._trainers.present
        changed = None if request.since is None else self._changes.since(request.since)
        numbers = sorted(present if changed is None else changed)
        return JobMembers(
            [MemberId(number, present[number].incarnation) for number in numbers if number in present],
            self._initialisation.server_rows(),
            self._job_facts.started,
            self._initialisation.is_complete(),
            self._membership,
            None if changed is None else request.since,
            [number for number in numbers if number not in present],
        )

    def _incarnations(self) -> dict[int, int]:
        return {number: member.incarnation for number, member in self._trainers.present.items()}

    # Saving and data

    def _ask_save(self, request: AskSave) -> Saver:
        trainer = self._renew(request)
        if not request.directory:
            raise Malformed("the directory to save to has an empty name")
        right = _SAVE + posixpath.normpath(request.directory)
        # While it saves, a trainer keeps the right for as long as it would be kept in the job.
        least = min(self.settings.lease, LONGEST) if request.saves else 0.0
        return Saver(self._leases.acquire(right, trainer, request.incarnation, request.seconds, least))

    def _set_data(self, request: SetData) -> Done:
        self._tasks.set_data(request.chunks, request.chunks_per_task)
        return Done()

    def _get_tasks(self, request: GetTasks) -> Tasks:
        serial = None if request.serial is None else (request.incarnation, request.serial)
        # Fewer towards the end of a pass, so that trainers end it at the same time.
        fair = self._tasks.todo // (2 * max(1, len(self._trainers.present)))
        return self._tasks.get(self._renew(request), request.pass_number, serial, max(1, min(request.most, fair)))

    def _end_tasks(self, request: EndTasks) -> TasksEnded:
        self._renew(request)
        return TasksEnded([self._tasks.end(one, request.failed) for one in request.tasks])

    def _rendezvous_request(self, request: RendezvousRequest) -> Any:
        self._renew(request)
        return self._rendezvous.reply(request)

    def _note_end(self, number: int, ended: bool) -> bool:
        """Whether all trainers have made their last step. Others do what one that has ended has read, and not done."""

        def note() -> None:
            self._job_facts.note_end(number, ended)
            if ended:
                self._tasks.release(str(number), failed=False)

        self._durable.change(note)
        return self._job_facts.all_ended

    def progress(self) -> object:
        return self._rendezvous.version, self._trainers.version

    # Status

    def _status(self, request: GetJobStatus) -> JobStatus:
        own = pending_events()
        self._event_buffer.add(own)
        events_sent(own)
        end, events = self._event_buffer.after(request.after)
        return JobStatus(
            self._trainers.status(),
            self._servers.status(),
            self._tasks.counts(),
            self._leases.holders(),
            self._job_facts.started,
            self._initialisation.is_complete(),
            self._job_facts.restarts,
            self._durable.errors,
            events,
            end,
            self._rendezvous.status(),
            self.latencies.counts,
        )
