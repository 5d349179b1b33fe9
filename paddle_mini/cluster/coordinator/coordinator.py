# Coordinator: who is in the job, who initialises the servers, who saves, who reads what.
"""
One service of a job, asked by all other parts; the numbers of parameters never come here. Requests, with what their
headers have besides, and what the replies say ("…?": may be null):

    join         key, trainer?                      trainer, incarnation, lease, facts
    register     key, server?, address, token?      server, incarnation, lease, facts
    beat         part, number, incarnation, report, events  (nothing)    part: "trainer" or "server"
    leave        part, number, incarnation, report, events  (nothing)
    view                                            trainers, servers, started, initialised
    begin_init   trainer, incarnation               selected, token?, servers, or wait
    finish_init  trainer, incarnation, token, servers   repeated
    ask_save     trainer, incarnation, directory, seconds   approved, token?
    set_data     chunks, chunks_per_task            (nothing)
    get_task     trainer, incarnation, pass, ask?   what Tasks.get says
    end_task     trainer, incarnation, task, epoch, failed   counted
    enter, given, meet, depart   trainer, incarnation, and what Meeting says
    status       after                              everything that is worth seeing

Each reply has "membership" too: it rises when trainers or servers come or go.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...errors import shown
from ..errors import AlreadyInitialised, Malformed, NotInitialised, StaleToken, StorageError, WrongJob
from ..part_log import Board, events_sent, events_waiting, speaking
from ..wire import Arrays, Header, Reply, answer, field
from .coordinator_file import read_state, write_state
from .coordinator_settings import CoordinatorSettings
from .leases import Leases
from .meeting import Meeting
from .members import Members
from .tasks import Tasks
from .undo import all_or_nothing

_INIT, _SAVE = "initialise", "save "
_REPORT_LIMIT = 32


class Coordinator:
    """The service. directory: coordinator.json there has everything that must survive, written before the reply that
    says it; a new Coordinator goes on from it. clock: the time in seconds, from any beginning, never backwards.

    What can't be written does not happen: the request is refused with the kind storage, and is right to be repeated.
    That time goes on (a lost trainer, a task that took too long) is not written by itself: after a restart it comes
    to the same a little later. Raises StorageError for a directory or file that can't be used, WrongJob for another
    job's.
    """

    def __init__(self, settings: CoordinatorSettings, directory: str, clock: Callable[[], float] = time.monotonic):
        self.settings, self._directory, self._clock = settings, directory, clock
        self._now = clock()
        self._storage_errors, self._restarts, self._started = 0, 0, False
        self._finished: list[int] = []  # tokens of the initialisations that came to their end
        instant = self._instant
        self._board = Board()
        self._tasks = Tasks(instant, settings.task_timeout, settings.task_failures)
        self._leases = Leases(instant)
        self._trainers = Members("trainer", instant, settings.lease, None, self._trainer_ends)
        self._servers = Members("server", instant, settings.lease, settings.servers, lambda number, lost: None)
        self._meeting = Meeting(self._incarnations, lambda: self._started)
        state = read_state(directory, settings.job)
        if state is not None:
            self._restore(state)
            self._started = self._started and state["run"] == settings.run
            self._restarts += 1
            self._trainers.begin_anew()
            self._servers.begin_anew()
        write_state(directory, settings.job, self._snapshot())
        kept, seen = True, False  # whether what a request changes must survive
        self._requests: dict[str, tuple[Callable[[Header], Header], bool]] = {
            "join": (self._join, kept),
            "register": (self._register, kept),
            "leave": (self._leave, kept),
            "begin_init": (self._begin_init, kept),
            "finish_init": (self._finish_init, kept),
            "ask_save": (self._ask_save, kept),
            "set_data": (self._set_data, kept),
            "get_task": (self._get_task, kept),
            "end_task": (self._end_task, kept),
            "beat": (self._beat, seen),
            "view": (self._view, seen),
            "status": (self._status, seen),
            **{name: (partial(self._meet, name), seen) for name in Meeting.REQUESTS},
        }

    def handle(self, header: bytes, arrays: Sequence[Any]) -> tuple[bytes, Arrays]:
        """Answers one request; never raises. One call at a time."""
        with speaking("coordinator"):
            return answer(self.settings.job, self._call, header, arrays, self._membership)

    def tick(self) -> None:
        """Trainers and servers that were silent for too long are lost, also while nobody asks."""
        self._now = max(self._now, self._clock())
        with speaking("coordinator"):
            self._trainers.drop_lost()
            self._servers.drop_lost()

    def _membership(self) -> Header:
        return {"membership": self._trainers.version + self._servers.version}

    def _call(self, name: str, header: Header, arrays: Arrays) -> Reply:
        if name not in self._requests or arrays:
            raise Malformed(f"a coordinator has no request {shown(name)}" + " with arrays" * bool(arrays))
        do, kept = self._requests[name]
        self.tick()  # one request is one instant
        if not kept:
            return do(header), []
        changes = self._changes()
        try:
            with all_or_nothing(self, self._board, self._tasks, self._leases, self._trainers, self._servers):
                reply = do(header)
                if self._changes() != changes:
                    write_state(self._directory, self.settings.job, self._snapshot())
        except StorageError:
            self._storage_errors += 1
            raise
        return reply, []

    # Members

    def _join(self, header: Header) -> Header:
        key, number = field(header, "key", str), _optional(header, "trainer", int)
        number = self._trainers.join(key, number, {})
        self._started = self._started or len(self._trainers.present) >= self.settings.trainers
        return {"trainer": number, **self._welcome(self._trainers, number)}

    def _register(self, header: Header) -> Header:
        token = _optional(header, "token", int)
        if token is not None and token > self._leases.token:
            raise WrongJob(
                "the server was initialised in a job that this coordinator knows nothing of: its "
                "coordinator.json is another one, or lost"
            )
        facts = {"address": field(header, "address", str), "initialised": token in self._finished}
        number = self._servers.join(field(header, "key", str), _optional(header, "server", int), facts)
        return {"server": number, **self._welcome(self._servers, number)}

    def _welcome(self, members: Members, number: int) -> Header:
        return {
            "incarnation": members.present[number].incarnation,
            "lease": self.settings.lease,
            "facts": dict(self.settings.facts),
        }

    def _beat(self, header: Header) -> Header:
        members, number, incarnation = self._member(header)
        self._reported(header, members, number, incarnation)
        return {}

    def _leave(self, header: Header) -> Header:
        members, number, incarnation = self._member(header)
        if members.has(number, incarnation):  # else the message comes twice
            self._reported(header, members, number, incarnation)
        members.leave(number, incarnation)
        return {}

    def _reported(self, header: Header, members: Members, number: int, incarnation: int) -> None:
        report = field(header, "report", dict, {})
        values = all(
            value is None or (isinstance(value, (str, int, float)) and len(shown(value)) < 200) for value in report.values()
        )
        if len(report) > _REPORT_LIMIT or not values:
            raise Malformed(f"a report has at most {_REPORT_LIMIT} numbers or short texts")
        members.report(number, incarnation, report)
        self._board.add(field(header, "events", list, []))

    def _member(self, header: Header) -> tuple[Members, int, int]:
        part = field(header, "part", str)
        if part not in ("trainer", "server"):
            raise Malformed(f"part is {shown(part)}, it must be 'trainer' or 'server'")
        return (
            self._trainers if part == "trainer" else self._servers,
            field(header, "number", int),
            field(header, "incarnation", int),
        )

    def _trainer(self, header: Header) -> tuple[int, int]:
        """Number and incarnation of the trainer that asks, which is thereby heard of."""
        number, incarnation = field(header, "trainer", int), field(header, "incarnation", int)
        self._trainers.hear(number, incarnation)
        return number, incarnation

    def _trainer_ends(self, number: int, lost: bool) -> None:
        self._meeting.end(number)
        self._tasks.give_back(str(number), failed=lost)
        self._leases.end(_INIT, str(number))

    def _view(self, header: Header) -> Header:
        trainers = sorted(self._incarnations().items())
        return {
            "trainers": trainers,
            "servers": self._server_rows(),
            "started": self._started,
            "initialised": self._initialised(),
        }

    def _server_rows(self) -> list[dict[str, Any]]:
        return [
            {"server": number, "incarnation": member.incarnation, **member.facts}
            for number, member in sorted(self._servers.present.items())
        ]

    # Initialisation

    def _initialised(self) -> bool:
        rows = self._server_rows()
        return len(rows) == self.settings.servers and all(row["initialised"] for row in rows)

    def _begin_init(self, header: Header) -> Header:
        """One trainer at a time is selected, and told which servers to give all parameters to; the others wait until
        every server has them. An initialiser goes on for longer by asking again."""
        number, incarnation = self._trainer(header)
        rows = self._server_rows()
        if self._initialised():
            return {"selected": False, "token": None, "servers": rows}
        if len(rows) < self.settings.servers:
            return {"wait": True}
        token = self._leases.ask(_INIT, str(number), incarnation, self.settings.init_lease)
        if token is None:
            return {"wait": True}
        return {"selected": True, "token": token, "servers": [row for row in rows if not row["initialised"]]}

    def _finish_init(self, header: Header) -> Header:
        """The end of an initialisation, when every server that was told of has finished: all of them, or nothing.
        servers: [number, incarnation] of each."""
        number, incarnation = self._trainer(header)
        token, told = field(header, "token", int), _pairs(header, "servers")
        if token in self._finished:
            return {"repeated": True}
        if self._initialised():
            raise AlreadyInitialised("all servers are initialised, by another trainer")
        if not self._leases.has(_INIT, str(number), incarnation, token):
            raise StaleToken(f"token {token} is not that of the initialiser: another trainer was selected since")
        rows = self._server_rows()
        done = {row["server"] for row in rows if row["initialised"] or (row["server"], row["incarnation"]) in told}
        missing = sorted(set(range(self.settings.servers)) - done)
        if missing:
            raise NotInitialised(
                f"server {missing[0]} has not finished, or began again since; begin_init says which servers need parameters"
            )
        self._servers.tell_of_all("initialised", True)
        self._finished.append(token)
        self._leases.end(_INIT, str(number))
        return {"repeated": False}

    # Saving and data

    def _ask_save(self, header: Header) -> Header:
        """Whether this trainer saves to a directory; if so, no other one is approved for so many seconds."""
        number, incarnation = self._trainer(header)
        directory = field(header, "directory", str)
        if not directory:
            raise Malformed("the directory to save to has no name")
        right = _SAVE + posixpath.normpath(directory)
        token = self._leases.ask(right, str(number), incarnation, field(header, "seconds", float))
        return {"approved": token is not None, "token": token}

    def _set_data(self, header: Header) -> Header:
        self._tasks.set_data(field(header, "chunks", list), field(header, "chunks_per_task", int, 10))
        return {}

    def _get_task(self, header: Header) -> Header:
        number, incarnation = self._trainer(header)
        ask = _optional(header, "ask", int)
        return self._tasks.get(str(number), field(header, "pass", int), None if ask is None else (incarnation, ask))

    def _end_task(self, header: Header) -> Header:
        self._trainer(header)
        end = self._tasks.fail if field(header, "failed", bool, False) else self._tasks.finish
        return {"counted": end(field(header, "task", int), field(header, "epoch", int))}

    def _incarnations(self) -> dict[int, int]:
        return {number: member.incarnation for number, member in self._trainers.present.items()}

    def _meet(self, name: str, header: Header) -> Header:
        number, _ = self._trainer(header)
        return self._meeting.handle(name, number, header)

    # What is seen and what is kept

    def _status(self, header: Header) -> Header:
        """after: the "events_end" of the last reply, so that events come once."""
        own = events_waiting()
        self._board.add(own)
        events_sent(own)
        end, events = self._board.after(field(header, "after", int, 0))
        return {
            "trainers": self._trainers.status(),
            "servers": self._servers.status(),
            "tasks": self._tasks.counts(),
            "leases": self._leases.holders(),
            "started": self._started,
            "initialised": self._initialised(),
            "restarts": self._restarts,
            "storage_errors": self._storage_errors,
            "events": events,
            "events_end": end,
        }

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


def _optional(header: Header, name: str, kind: type) -> Any | None:
    return None if header.get(name) is None else field(header, name, kind)


def _pairs(header: Header, name: str) -> list[tuple[int, int]]:
    found = field(header, name, list)
    if not all(isinstance(one, list) and len(one) == 2 and all(type(item) is int for item in one) for one in found):
        raise Malformed(f"'{name}' is {shown(found)}, it must be a list of [number, incarnation]")
    return [(number, incarnation) for number, incarnation in found]
