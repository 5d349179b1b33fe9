# Membership: a trainer's place in a job, for as long as it beats.
from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..client import Ask, Client
from ..engine import Killed
from ..errors import ClusterError, Gone
from ..messages import R, Request
from ..process_log import ProcessLogger, events_sent, log_context, pending_events
from ..protocol import Heartbeat, Join, Leave, SetMembers, View
from ..values import MemberId, Role

_JOINS = 3
"""How often in one request: a trainer that is lost again and again is too slow for the lease."""
_log = ProcessLogger(__name__)


class Membership:
    """Trainer `number` of a job. servers: how many are to know who the trainers are. report(): what the coordinator
    shows of it, every heartbeat_seconds.

    incarnation rises whenever it joins, and membership with everybody who comes or goes; a push says both. is_lost: the
    job goes on without it, so that it is to join again.
    """

    def __init__(self, number: int, servers: int, client: Client, heartbeat_seconds: float, report: Callable[[], dict[str, Any]]):
        self.number, self.incarnation, self.membership, self.is_lost = number, 0, 0, False
        self._servers, self._client, self._heartbeat_seconds, self._report = servers, client, heartbeat_seconds, report
        self._heartbeats: threading.Thread | None = None
        self._left = threading.Event()
        self._renewed: Callable[..., Request[Any]] | None = None

    def join(self) -> None:
        """Also again, when it is lost."""
        self.is_lost = False
        welcome = self._client.ask("coordinator", Join(uuid.uuid4().hex, self.number))
        self.incarnation, self.membership = welcome.incarnation, welcome.membership
        self._announce()
        if self._heartbeats is None:
            self._left.clear()
            self._heartbeats = threading.Thread(target=self._send_heartbeats, name=f"trainer {self.number} beats", daemon=True)
            self._heartbeats.start()

    def leave(self) -> None:
        """The others do not wait for this trainer any more."""
        self.stop_heartbeat()
        events = pending_events()
        self._client.ask("coordinator", Leave(Role.TRAINER, self.number, self.incarnation, self._report(), events))
        events_sent(events)
        self._announce()

    def flush_events(self) -> None:
        """Before an error ends this trainer: what it has logged goes along with one more beat."""
        self.stop_heartbeat()
        if pending_events():
            try:
                self._heartbeat()
            except ClusterError as error:  # the one that ends the trainer is what counts
                _log.info("%s", error)

    def stop_heartbeat(self) -> None:
        """No more beats."""
        self._left.set()
        if self._heartbeats is not None:
            self._heartbeats.join()
            self._heartbeats = None

    @property
    def life(self) -> MemberId:
        """Which life of which trainer this is."""
        return MemberId(self.number, self.incarnation)

    def ask(self, request: Callable[..., Request[R]], **fields: Any) -> R:
        """Asks the coordinator as this trainer, which joins again where it was not heard of for too long. request: a
        class whose first two fields are those of a Life."""
        for _ in range(_JOINS):
            try:
                return self._client.ask("coordinator", request(*self.life, **fields))
            except Gone as error:
                _log.warning("%s", error)
                self.join()
        return self._client.ask("coordinator", request(*self.life, **fields))

    @contextmanager
    def renewing(self, request: Callable[..., Request[Any]], **fields: Any) -> Iterator[None]:
        """Inside, the coordinator is asked this with each beat too, so that a right that has an end does not end. request:
        as for ask."""
        self._renewed = partial(request, **fields)
        try:
            yield
        finally:
            self._renewed = None

    def _announce(self) -> None:
        """Servers come to know of members by themselves; this is sooner."""
        if not self._servers:
            return
        view = self._client.ask("coordinator", View())
        if view.started:
            request = SetMembers(view.membership, view.trainers)
            self._client.notify_all([Ask(f"server {index}", request) for index in range(self._servers)])

    def _send_heartbeats(self) -> None:
        with log_context(f"trainer {self.number}"):
            while not self._left.wait(self._heartbeat_seconds):
                try:
                    self._heartbeat()
                except Killed:
                    return
                except ClusterError as error:  # the trainer's next request says so too
                    _log.info("%s", error)

    def _heartbeat(self) -> None:
        incarnation, events = self.incarnation, pending_events()
        try:
            self._client.once("coordinator", Heartbeat(Role.TRAINER, self.number, incarnation, self._report(), events))
            events_sent(events)
            renewed = self._renewed
            if renewed is not None:
                self._client.once("coordinator", renewed(*self.life))
        except Gone:
            self.is_lost = self.incarnation == incarnation  # else it has joined again meanwhile
