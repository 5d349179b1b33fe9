# Coordinator: membership, initialisation of servers, election of the trainer that saves, and data tasks of a job.
from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from ..errors import AlreadyInitialised, Malformed, NotInitialised, StaleToken, StorageError, WrongJob
from ..messages import Wait
from ..process_log import EventBuffer, events_sent, log_context, pending_events
from ..protocol import (
    Arrive,
    AskSave,
    BeginInit,
    EndInit,
    EndTask,
    GetJobStatus,
    GetTask,
    Heartbeat,
    Join,
    JoinRendezvous,
    Leave,
    LeaveRendezvous,
    Register,
    SetData,
    StateStored,
    View,
)
from ..replies import Done, HeartbeatReply, Initialiser, JobMembers, JobStatus, Saver, Task, TaskEnded, Welcome
from ..service import Answering
from ..values import FromMember, FromTrainer, MemberId, Role, ServerRow
from ..wire import Arrays
from .coordinator_file import read_state, write_state
from .coordinator_settings import CoordinatorSettings
from .leases import Leases
from .members import Members
from .rendezvous import Rendezvous
from .tasks import Tasks
from .undo import all_or_nothing

_INIT, _SAVE = "initialise", "save "
Q = TypeVar("Q")
A = TypeVar("A")


class Coordinator(Answering):
    """The service of a job that all other processes use; it handles no parameter values.

    directory: of coordinator.json, which has all durable state and is written before the reply that depends on it; a
    new Coordinator resumes from it. clock: monotonic time in seconds.

    A request whose change can't be written has no effect: it fails with the kind storage and can be repeated. Timeouts
    (a lost trainer, an expired task) are not written: after a restart they expire a little later. Raises StorageError
    for a directory or file that can't be used, and WrongJob for one of another job.
    """

    def __init__(self, settings: CoordinatorSettings, directory: str, clock: Callable[[], float] = time.monotonic):
        self.settings, self._directory, self._clock = settings, directory, clock
        self._now = clock()
        self._storage_errors, self._restarts, self._started = 0, 0, False
        self._finished: list[int] = []  # tokens of completed initialisations
        instant = self._instant
        self._event_buffer = EventBuffer()
        self._tasks = Tasks(instant, settings.task_timeout, settings.task_failures)
        self._leases = Leases(instant)
        self._trainers = Members("trainer", instant, settings.lease, None, self._trainer_ends)
        self._servers = Members("server", instant, settings.lease, settings.servers, lambda number, lost: None)
        self._rendezvous = Rendezvous(self._incarnations, lambda: self._started)
        state = read_state(directory, settings.job)
        if state is not None:
            self._restore(state)
            self._started = self._started and state["run"] == settings.run
            self._restarts += 1
            self._trainers.renew_all()
            self._servers.renew_all()
        write_state(directory, settings.job, self._snapshot())
        kept: dict[Any, Callable[[Any], Any]] = {  # their changes are durable
            Join: self._join,
            Register: self._register,
            Leave: self._leave,
            BeginInit: self._begin_init,
            EndInit: self._end_init,
            AskSave: self._ask_save,
            SetData: self._set_data,
            GetTask: self._get_task,
            EndTask: self._end_task,
        }
        seen: dict[Any, Callable[[Any], Any]] = {
            Heartbeat: self._heartbeat,
            View: self._view,
            GetJobStatus: self._status,
            **dict.fromkeys((JoinRendezvous, StateStored, Arrive, LeaveRendezvous), self._rendezvous_request),
        }
        super().__init__(
            settings.job,
            {
                **{kind: partial(self._keep, do) for kind, do in kept.items()},
                **{kind: partial(self._look, do) for kind, do in seen.items()},
            },
        )

    def handle(self, header: bytes, arrays: Sequence[Any]) -> tuple[bytes, Arrays]:
        with log_context("coordinator"):
            return super().handle(header, arrays)

    def tick(self) -> None:
        """Removes trainers and servers whose leases have expired; called regularly, also without requests."""
        self._now = max(self._now, self._clock())
        with log_context("coordinator"):
            self._trainers.drop_lost()
            self._servers.drop_lost()

    @property
    def _membership(self) -> int:
        return self._trainers.version + self._servers.version

    def _look(self, do: Callable[[Q], A], request: Q) -> A:
        self.tick()  # one request is one instant
        return do(request)

    def _keep(self, do: Callable[[Q], A], request: Q) -> A:
        self.tick()
        changes = self._changes()
        try:
            with all_or_nothing(self, self._event_buffer, self._tasks, self._leases, self._trainers, self._servers):
                reply = do(request)
                if self._changes() != changes:
                    write_state(self._directory, self.settings.job, self._snapshot())
        except StorageError:
            self._storage_errors += 1
            raise
        return reply

    # Members

    def _join(self, request: Join) -> Welcome:
        number = self._trainers.join(request.key, request.trainer, {})
        self._started = self._started or len(self._trainers.present) >= self.settings.trainers
        return self._welcome(self._trainers, number)

    def _register(self, request: Register) -> Welcome:
        if request.token is not None and request.token > self._leases.token:
            raise WrongJob(
                "the server was initialised in a job that this coordinator does not know: its "
                "coordinator.json was lost or replaced"
            )
        facts = {"address": request.address, "initialised": request.token in self._finished}
        return self._welcome(self._servers, self._servers.join(request.key, request.server, facts))

    def _welcome(self, members: Members, number: int) -> Welcome:
        return Welcome(
            number, members.present[number].incarnation, self._membership, self.settings.lease, dict(self.settings.facts)
        )

    def _heartbeat(self, request: Heartbeat) -> HeartbeatReply:
        self._reported(request)
        return HeartbeatReply(self._membership)

    def _leave(self, request: Leave) -> Done:
        members = self._members(request)
        if members.has(request.number, request.incarnation):  # else the message is repeated
            self._reported(request)
        members.leave(request.number, request.incarnation)
        return Done()

    def _reported(self, request: FromMember) -> None:
        self._members(request).report(request.number, request.incarnation, request.report)
        self._event_buffer.add(request.events)

    def _members(self, request: FromMember) -> Members:
        return self._trainers if request.role is Role.TRAINER else self._servers

    def _renew(self, request: FromTrainer) -> str:
        """Renews the lease of the trainer that sent the request; returns its number as text."""
        self._trainers.renew(request.trainer, request.incarnation)
        return str(request.trainer)

    def _trainer_ends(self, number: int, lost: bool) -> None:
        self._rendezvous.end(number)
        self._tasks.release(str(number), failed=lost)
        self._leases.release(_INIT, str(number))

    def _view(self, request: View) -> JobMembers:
        trainers = [MemberId(number, incarnation) for number, incarnation in sorted(self._incarnations().items())]
        return JobMembers(trainers, self._server_rows(), self._started, self._initialised(), self._membership)

    def _server_rows(self) -> list[ServerRow]:
        return [ServerRow(number, member.incarnation, **member.facts) for number, member in sorted(self._servers.present.items())]

    # Initialisation

    def _initialised(self) -> bool:
        rows = self._server_rows()
        return len(rows) == self.settings.servers and all(row.initialised for row in rows)

    def _begin_init(self, request: BeginInit) -> Initialiser | Wait:
        """Selects one trainer at a time and names the servers that it must initialise; the others wait until every
        server has its parameters. The initialiser renews its lease by repeating the request."""
        trainer, rows = self._renew(request), self._server_rows()
        if self._initialised():
            return Initialiser(None, rows)
        if len(rows) < self.settings.servers:
            return Wait()
        token = self._leases.acquire(_INIT, trainer, request.incarnation, self.settings.init_lease)
        return Wait() if token is None else Initialiser(token, [row for row in rows if not row.initialised])

    def _end_init(self, request: EndInit) -> Done:
        """Ends an initialisation, if every server has finished; otherwise nothing changes."""
        trainer, token = self._renew(request), request.token
        if token in self._finished:
            return Done(repeated=True)
        if self._initialised():
            raise AlreadyInitialised("all servers are initialised, by another trainer")
        if not self._leases.holds(_INIT, trainer, request.incarnation, token):
            raise StaleToken(f"token {token} is not that of the initialiser: another trainer was selected")
        rows = self._server_rows()
        done = {row.server for row in rows if row.initialised or (row.server, row.incarnation) in request.servers}
        missing = sorted(set(range(self.settings.servers)) - done)
        if missing:
            raise NotInitialised(
                f"server {missing[0]} has not finished, or restarted since; begin_init names the servers that need parameters"
            )
        self._servers.set_fact("initialised", True)
        self._finished.append(token)
        self._leases.release(_INIT, trainer)
        return Done()

    # Saving and data

    def _ask_save(self, request: AskSave) -> Saver:
        trainer = self._renew(request)
        if not request.directory:
            raise Malformed("the directory to save to has an empty name")
        right = _SAVE + posixpath.normpath(request.directory)
        return Saver(self._leases.acquire(right, trainer, request.incarnation, request.seconds))

    def _set_data(self, request: SetData) -> Done:
        self._tasks.set_data(request.chunks, request.chunks_per_task)
        return Done()

    def _get_task(self, request: GetTask) -> Task:
        serial = None if request.serial is None else (request.incarnation, request.serial)
        return self._tasks.get(self._renew(request), request.pass_number, serial)

    def _end_task(self, request: EndTask) -> TaskEnded:
        self._renew(request)
        end = self._tasks.fail if request.failed else self._tasks.finish
        return TaskEnded(end(request.task, request.epoch))

    def _incarnations(self) -> dict[int, int]:
        return {number: member.incarnation for number, member in self._trainers.present.items()}

    def _rendezvous_request(self, request: JoinRendezvous | StateStored | Arrive | LeaveRendezvous) -> Any:
        self._renew(request)
        return self._rendezvous.handle(request)

    # Status and durable state

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
            self._started,
            self._initialised(),
            self._restarts,
            self._storage_errors,
            events,
            end,
        )

    def _instant(self) -> float:
        return self._now

    def _changes(self) -> tuple[int, ...]:
        return (self._tasks.changes, self._leases.changes, self._trainers.changes, self._servers.changes, len(self._finished))

    def _snapshot(self) -> dict[str, Any]:
        return {
            "tasks": self._tasks.snapshot(),
            "leases": self._leases.snapshot(),
            "trainers": self._trainers.snapshot(),
            "servers": self._servers.snapshot(),
            "started": self._started,
            "finished": list(self._finished),
            "restarts": self._restarts,
            "run": self.settings.run,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        for part, name in (
            (self._tasks, "tasks"),
            (self._leases, "leases"),
            (self._trainers, "trainers"),
            (self._servers, "servers"),
        ):
            part.restore(state[name])
        self._started, self._finished, self._restarts = state["started"], list(state["finished"]), state["restarts"]
