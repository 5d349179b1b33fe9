# Membership: a trainer's membership in a job, kept alive by heartbeats.
from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..client import Call, Client
from ..engine import Killed, Link
from ..errors import ClusterError, Gone
from ..job_settings import JobSettings
from ..messages import R, Request
from ..process_log import ProcessLogger, events_sent, log_context, pending_events
from ..protocol import Heartbeat, Join, Leave, SetMembers, View
from ..values import MemberId, Role

_JOINS = 3
"""Maximal joins in one request: a trainer that is lost repeatedly is too slow for the lease."""
_log = ProcessLogger(__name__)


class Membership:
    """Trainer `number` of a job. servers: how many servers are notified when it joins; says_leave: also when it leaves,
    because other trainers wait for it. report(): the status that the coordinator shows, sent every heartbeat_seconds.

    incarnation increases with each join of this trainer, and membership with each change of members; a push has both.
    is_lost: the job continues without this trainer, which must join again.
    turn: held by a thread that makes a step, or changes the membership: another one may read the data ahead.
    """

    def __init__(
        self,
        number: int,
        servers: int,
        client: Client,
        heartbeat_seconds: float,
        report: Callable[[], dict[str, Any]],
        says_leave: bool = False,
    ):
        self.number, self.incarnation, self.membership, self.is_lost = number, 0, 0, False
        self._servers, self._client, self._heartbeat_seconds, self._report = servers, client, heartbeat_seconds, report
        self._says_leave = says_leave
        self._heartbeats: threading.Thread | None = None
        self._left = threading.Event()
        self._renewed: Callable[..., Request[Any]] | None = None
        self._renewal = threading.Lock()
        self.turn = threading.RLock()
        self._has_ended = False

    def join(self) -> None:
        """Joins the job; also again, when this trainer is lost."""
        with self.turn:
            self._join()

    def _join(self) -> None:
        if self._has_ended:  # a thread that reads ahead is left
            raise Gone(f"trainer {self.number} has made its last step")
        self.is_lost = False
        welcome = self._client.request("coordinator", Join(uuid.uuid4().hex, self.number))
        self.incarnation, self.membership = welcome.incarnation, welcome.membership
        if welcome.started and self._servers:
            if welcome.since is None:  # the job starts with this trainer
                view = self._client.request("coordinator", View())
                self._announce(SetMembers(view.membership, view.trainers))
            else:
                self._announce(SetMembers(welcome.membership, [self.life], welcome.since))
        if self._heartbeats is None:
            self._left.clear()
            self._heartbeats = threading.Thread(
                target=self._send_heartbeats, name=f"trainer {self.number} heartbeat", daemon=True
            )
            self._heartbeats.start()

    def leave(self) -> None:
        """Leaves the job, which it may join again."""
        with self.turn:
            self._leave()
            self.is_lost = True

    def end(self) -> None:
        """Leaves the job for good."""
        with self.turn:
            self._has_ended = True
            self.leave()

    def _leave(self) -> None:
        self.stop_heartbeat()
        events = pending_events()
        leave = Leave(Role.TRAINER, self.number, self.incarnation, self._report(), events, ends=self._has_ended)
        left = self._client.request("coordinator", leave)
        events_sent(events)
        if left.started and left.since is not None and self._says_leave:
            self._announce(SetMembers(left.membership, [], left.since, [self.number]))

    def flush_events(self) -> None:
        """Sends pending log events with one more heartbeat, before an error ends this trainer."""
        self.stop_heartbeat()
        if pending_events():
            try:
                self._heartbeat()
            except ClusterError as error:  # the error that ends the trainer matters more
                _log.info("%s", error)

    def stop_heartbeat(self) -> None:
        """Stops the heartbeat thread."""
        self._left.set()
        if self._heartbeats is not None:
            self._heartbeats.join()
            self._heartbeats = None

    @property
    def life(self) -> MemberId:
        """The number and incarnation of this trainer."""
        return MemberId(self.number, self.incarnation)

    def request(self, request: Callable[..., Request[R]], **fields: Any) -> R:
        """Sends a request of this trainer to the coordinator; joins again if the trainer was lost. request: a class
        whose first two fields are those of MemberId."""
        for _ in range(_JOINS):
            life = self.life
            try:
                return self._client.request("coordinator", request(*life, **fields))
            except Gone as error:
                with self.turn:
                    if life == self.life:  # else another thread has joined
                        _log.warning("%s", error)
                        self._join()
        return self._client.request("coordinator", request(*self.life, **fields))

    @contextmanager
    def renewing(self, request: Callable[..., Request[Any]], **fields: Any) -> Iterator[None]:
        """Inside, until stop_renewing(), each heartbeat also sends this request, which renews a lease. request: as for
        request()."""
        self._renewed = partial(request, **fields)
        try:
            yield
        finally:
            self.stop_renewing()

    def stop_renewing(self) -> None:
        """Returns when no heartbeat renews a lease any more."""
        with self._renewal:
            self._renewed = None

    def _announce(self, change: SetMembers) -> None:
        """Notifies the servers; they would learn it later with their own heartbeats."""
        self._client.notify_all([Call(f"server {index}", change) for index in range(self._servers)])

    def _send_heartbeats(self) -> None:
        with log_context(f"trainer {self.number}"):
            while not self._left.wait(self._heartbeat_seconds):
                try:
                    self._heartbeat()
                except Killed:
                    return
                except ClusterError as error:  # the trainer's next request raises it too
                    _log.info("%s", error)

    def _heartbeat(self) -> None:
        incarnation, events = self.incarnation, pending_events()
        try:
            self._client.once("coordinator", Heartbeat(Role.TRAINER, self.number, incarnation, self._report(), events))
            events_sent(events)
            with self._renewal:
                if self._renewed is not None:
                    self._client.once("coordinator", self._renewed(*self.life))
        except Gone:
            self.is_lost = self.incarnation == incarnation  # else it has joined again


def pass_by(number: int, link: Link, settings: JobSettings) -> None:
    """Joins and leaves, for a trainer that takes no part: the others wait until all have joined once."""
    client = Client(link, **settings.client_options())
    membership = Membership(number, settings.servers, client, settings.heartbeat_seconds, dict, settings.mode == "sync")
    membership.join()
    membership.end()
