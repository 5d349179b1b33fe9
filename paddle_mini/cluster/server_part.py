# ServerPart: a parameter server as a part of a job: the coordinator knows of it, and it knows who the trainers are.
from __future__ import annotations

import logging
import time
import uuid
from typing import Any, Callable, Optional, Sequence, Tuple

from .client import Client
from .engine import Link
from .errors import Gone, Timeout
from .job_settings import JobSettings
from .server import ParameterServer
from .wire import Arrays, Header, answer, request, understood

_log = logging.getLogger(__name__)


class ServerPart:
    """The service "server N". The coordinator is asked in tick(), one message at a time, so that no trainer waits for a
    coordinator that is away."""

    def __init__(self, index: int, settings: JobSettings, directory: Optional[str], link: Link,
                 clock: Callable[[], float] = time.monotonic):
        self.server = ParameterServer(index, settings.of_servers(), directory, clock)
        self._settings, self._clock = settings, clock
        self._client = Client(link, **settings.of_clients())
        self._key = uuid.uuid4().hex
        self._incarnation: Optional[int] = None  # None: the coordinator is to be told
        self._replaced = False
        self._membership, self._next_beat = 0, clock()

    def handle(self, header: bytes, arrays: Sequence[Any]) -> Tuple[bytes, Arrays]:
        if self._replaced:
            return answer(self._settings.job, self._refuse, header, arrays)
        return self.server.handle(header, arrays)

    def tick(self) -> None:
        """Checkpoints and beats, where they are due. Raises what the coordinator refuses."""
        if self._replaced:
            return
        self.server.tick()
        if self._clock() < self._next_beat:
            return
        try:
            self._beat() if self._incarnation is not None else self._register()
            self._next_beat = self._clock() + self._settings.lease / 4
        except Timeout:  # again at the next tick; trainers are told when they ask a coordinator that is away
            pass

    def _register(self) -> None:
        reply = self._client.once("coordinator", "register", key=self._key, server=self.server.index,
                                  address=f"server {self.server.index}", token=self.server.token)
        self._incarnation = reply["incarnation"]
        self._follow(reply)

    def _beat(self) -> None:
        try:
            self._follow(self._client.once("coordinator", "beat", part="server", number=self.server.index,
                                           incarnation=self._incarnation, report=self._report()))
        except Gone as error:
            self._incarnation = None
            rows = self._client.once("coordinator", "view")["servers"]
            self._replaced = any(row["server"] == self.server.index for row in rows)
            _log.warning("%s; it %s", error, "serves no more" if self._replaced else "registers again")

    def _follow(self, reply: Header) -> None:
        """Tells the server who the trainers are, where that has changed."""
        if reply["membership"] != self._membership:
            view = self._client.once("coordinator", "view")
            if view["started"]:
                self.server.handle(request(self._settings.job, "members", membership=view["membership"],
                                           trainers=view["trainers"]), [])
            self._membership = view["membership"]

    def _report(self) -> Header:
        status, _ = understood(*self.server.handle(request(self._settings.job, "status"), []))
        checkpoints = status["checkpoints"]
        newest = checkpoints["newest"] or checkpoints["recovered"] or {}
        return {"version": status["version"], "bytes": status["bytes"], **status["pushes"],
                "checkpoint": newest.get("number"), "checkpoint_seconds": checkpoints["seconds"],
                "checkpoint_errors": checkpoints["errors"]}

    def _refuse(self, name: str, asked: Header, arrays: Arrays) -> Any:
        raise Gone(f"another process is server {self.server.index} now")
