# TrainerProcess: the connection of a trainer to its job: joins, initialises servers if elected, pulls and pushes.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..client import Call, Client
from ..engine import Link
from ..errors import ClusterError, Gone, NotInitialised, Stale, StaleToken
from ..job_settings import JobSettings
from ..messages import Wait
from ..process_log import ProcessLogger
from ..protocol import BeginInit, EndInit, Push, PushDelta
from ..values import MemberId
from .membership import Membership
from .pace import Pace
from .remote_parameters import Gradient, Pulled, RemoteParameter, RemoteParameters

Again = Callable[[Sequence[int]], None]
_log = ProcessLogger(__name__)


class TrainerProcess:
    """values(): this trainer's parameters, by name: the initial values, if it is selected as initialiser.

    counts: pushes by result, each at each server: "sent" is the sum of "applied" and "dropped". An applied push is lost
    if its server restarts from an older checkpoint. pass_number: of the data, from 0.
    """

    def __init__(
        self,
        number: int,
        link: Link,
        settings: JobSettings,
        parameters: Sequence[RemoteParameter],
        values: Callable[[], Mapping[str, np.ndarray]],
    ):
        self.settings, self._values = settings, values
        self.client = Client(link, **settings.client_options())
        self.parameters = RemoteParameters(self.client, parameters, settings.servers)
        self.membership = Membership(number, settings.servers, self.client, settings.heartbeat_seconds, self._report)
        self.counts = {"sent": 0, "applied": 0, "dropped": 0}
        self.pace = Pace()
        self.pass_number = 0

    def begin(self) -> None:
        """Returns when all servers have all parameters."""
        self.membership.join()
        self._initialise()
        otherwise = self.parameters.config_mismatches()
        if otherwise:
            _log.warning(
                "the job continues with the optimizer that it was started with, which is not this program's, for "
                "%s: to start over, use a new directory",
                ", ".join(otherwise[:5]) + ", …" * (len(otherwise) > 5),
            )

    def _initialise(self) -> None:
        """Initialises the servers, if this trainer is selected, or waits for the trainer that is."""
        while True:
            reply = self.membership.request(BeginInit)
            if reply.token is None:
                return
            try:
                self.parameters.initialise([row.server for row in reply.servers], reply.token, self._values())
                self.membership.request(
                    EndInit, token=reply.token, servers=[MemberId(row.server, row.incarnation) for row in reply.servers]
                )
            except (NotInitialised, StaleToken) as error:  # a server or this trainer was too slow, or restarted
                _log.warning("it repeats the initialisation: %s", error)

    def pull(
        self,
        names: Sequence[str],
        rows: Mapping[str, np.ndarray],
        min_version: int = 0,
        average: int | None = None,
        again: Again | None = None,
    ) -> Pulled:
        """As for RemoteParameters. again(servers) is called during the wait for servers that do not have the last push,
        because they, or this trainer, restarted."""
        begun, incarnation = list(self.parameters.lives), self.membership.incarnation

        def on_wait(index: int, reply: Wait) -> None:
            nonlocal incarnation
            lacking: Sequence[int] = []
            if self.membership.is_lost:
                self.membership.join()
            if reply.life != begun[index]:
                begun[index] = reply.life
                self.parameters.note_reply(index, reply)
                self._initialise()
                lacking = [index]
            if self.membership.incarnation != incarnation:  # it joined again, here or during a request
                incarnation = self.membership.incarnation
                lacking = range(self.settings.servers)
            if lacking and again is not None:
                again(lacking)

        return self.parameters.pull(names, rows, min_version, average, on_wait)

    def push(self, gradients: Mapping[str, Gradient], step: int, pass_number: int, again: Sequence[int] = ()) -> None:
        """Sends each server its share, once. Counts the pushes that servers drop. again: servers that may have lost the
        push; one that has it ignores the repetition. NotFinite: nothing was sent."""
        kind: Any = PushDelta if self.settings.by_trainers else Push
        errors: list[ClusterError] = []
        left: Sequence[int] = again or range(self.settings.servers)
        while left:
            calls = []
            for index in left:  # all of them are made before the first is sent
                blocks, arrays = self.parameters.share(index, gradients)
                calls.append(
                    Call(
                        f"server {index}",
                        kind(
                            *self.membership.life,
                            step,
                            blocks,
                            self.membership.membership,
                            self.parameters.versions[index],
                            pass_number,
                            arrays,
                        ),
                    )
                )
            results, asked, left = self.client.request_all(calls), left, []
            for index, result in zip(asked, results):
                if isinstance(result, NotInitialised):
                    left.append(index)
                elif isinstance(result, ClusterError):
                    errors.append(result)
                else:
                    self.parameters.note_reply(index, result)
                    self._count("applied", 0 if again else 1)
            if left:
                self._initialise()
        for error in errors:
            if not isinstance(error, (Stale, Gone)):
                raise error
            if not again:
                self._count("dropped", 1)
                _log.warning("%s", error)
                if isinstance(error, Gone):
                    self.membership.is_lost = True
        if self.membership.is_lost and not again:
            self.membership.join()

    def _count(self, became: str, pushes: int) -> None:
        self.counts["sent"] += pushes
        self.counts[became] += pushes

    def finish(self) -> None:
        """Leaves the job."""
        self.membership.leave()

    def _report(self) -> dict[str, Any]:
        return {**self.pace.report(), **self.counts, "server_restarts": self.parameters.restarts}
