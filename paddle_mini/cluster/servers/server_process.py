# ServerProcess: connects a parameter server to its job: registration, heartbeats and membership of trainers.
from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..client import Client
from ..engine import Answer, Link, Respond
from ..errors import Gone, Timeout
from ..job_settings import JobSettings
from ..process_log import ProcessLogger, events_sent, log_context, pending_events
from ..protocol import Heartbeat, Register, SetMembers, View
from ..values import Role
from .server import ParameterServer

_log = ProcessLogger(__name__)


class ServerProcess:
    """The service "server N". tick() sends requests to the coordinator, one message at a time, so that no trainer waits
    while the coordinator is down."""

    def __init__(
        self, index: int, settings: JobSettings, directory: str | None, link: Link, clock: Callable[[], float] = time.monotonic
    ):
        self._name = f"server {index}"
        self._begin = partial(ParameterServer, index, settings.server_settings(), directory)
        with log_context(self._name):
            self.server = self._begin()
        self._settings, self._clock = settings, clock
        self._client = Client(link, **settings.client_options())
        self._key = uuid.uuid4().hex
        self._incarnation: int | None = None  # None: not registered
        self._replaced = False
        self._next_heartbeat = clock()
        self._reported = (clock(), 0, 0, 0, 0)

    def handle(self, header: bytes, arrays: Sequence[Any]) -> Answer:
        with log_context(self._name):
            if self._replaced:
                return Gone(f"another process is {self._name} now")
            return self.server.handle(header, arrays)

    def take(
        self, header: bytes, arrays: Sequence[Any], respond: Respond, patience: float, memory: memoryview | None = None
    ) -> None:
        with log_context(self._name):
            if self._replaced:
                respond(Gone(f"another process is {self._name} now"))
            else:
                self.server.take(header, arrays, respond, patience, memory)

    def tick(self) -> None:
        """Writes a checkpoint and sends a heartbeat, when they are due. Raises errors of the coordinator."""
        with log_context(self._name):
            self._tick()

    def rest(self) -> None:
        self.server.rest()

    def _tick(self) -> None:
        if not self._replaced:
            self.server.tick()
        if self._clock() < self._next_heartbeat and self.server.missed <= self.server.membership:
            return
        try:
            if self._replaced:
                self._rejoin()
            elif self._incarnation is None:
                self._register()  # the first heartbeat is sent at the next tick
            else:
                self._heartbeat()
                self._next_heartbeat = self._clock() + self._settings.heartbeat_seconds
        except Timeout:  # retried at the next tick; trainers notice by themselves that the coordinator is down
            pass

    def _register(self) -> None:
        welcome = self._client.once("coordinator", Register(self._key, self._name, self.server.index, self.server.token))
        self._incarnation = welcome.incarnation
        self._follow(welcome.membership, welcome.started)

    def _heartbeat(self) -> None:
        assert self._incarnation is not None
        events = pending_events()
        try:
            latencies = self.server.latencies.counts
            note_reply = self._client.once(
                "coordinator", Heartbeat(Role.SERVER, self.server.index, self._incarnation, self._report(), events, latencies)
            )
            self._follow(note_reply.membership, note_reply.started)
            events_sent(events)
        except Gone as error:
            self._incarnation = None
            self._replaced = self._has_successor()
            if self._replaced:
                self.server.dismiss(Gone(f"another process is {self._name} now"))
            _log.warning("%s; it %s", error, "stops serving" if self._replaced else "registers again")

    def _has_successor(self) -> bool:
        return any(row.server == self.server.index for row in self._client.once("coordinator", View()).servers)

    def _rejoin(self) -> None:
        """Serves again, from the newest checkpoint, if the process that replaced this one is lost. It may never have
        existed: a late message of an earlier incarnation of this server replaces it, too."""
        self._next_heartbeat = self._clock() + self._settings.heartbeat_seconds
        if not self._has_successor():
            self.server.rest()
            self.server, self._key, self._replaced = self._begin(), uuid.uuid4().hex, False

    def _follow(self, membership: int, started: bool) -> None:
        """Updates the server's members, if the membership has changed since the job started."""
        known = self.server.membership
        if started and membership > known:
            view = self._client.once("coordinator", View(known or None))
            self.server.set_members(SetMembers(view.membership, view.trainers, view.since, view.gone))

    def _report(self) -> dict[str, Any]:
        status = self.server.status()
        checkpoints, pushes = status.checkpoints, status.pushes
        newest = checkpoints.newest or checkpoints.recovered
        before, now = self._reported, (self._clock(), status.received, status.given, status.behind, pushes.sent)
        self._reported = now
        seconds, received, given, behind, sent = (after - earlier for after, earlier in zip(now, before))
        return {
            "version": status.version,
            "bytes": status.bytes,
            **vars(pushes),
            "received": status.received,
            "received_per_second": received / max(seconds, 1e-9),
            "given": status.given,
            "given_per_second": given / max(seconds, 1e-9),
            "behind": behind / sent if sent > 0 else None,
            "worst_behind": status.worst_behind,
            "checkpoint": newest["number"] if newest else None,
            "checkpoint_age": max(0, time.time_ns() - newest["timestamp"]) / 1e9 if newest else None,
            "checkpoint_seconds": checkpoints.seconds,
            "checkpoint_errors": checkpoints.errors,
        }
