# TrainerProcess: the connection of a trainer to its job: joins, initialises servers if elected, pulls and pushes.
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...io.model_in_pieces import InPieces
from ..client import Call, Client
from ..engine import Link
from ..errors import ClusterError, Gone, NotInitialised, Stale, StaleToken
from ..job_settings import JobSettings
from ..messages import Wait
from ..process_log import ProcessLogger
from ..protocol import BeginInit, EndInit, Pull, Push, PushDelta
from ..values import MemberId
from ..wire import Arrays
from .membership import Membership
from .pace import Pace
from .remote_parameters import Gradient, Pulled, RemoteParameter, RemoteParameters, Selection, Version

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
        heartbeat, sync = settings.heartbeat_seconds, settings.mode == "sync"
        self.membership = Membership(number, settings.servers, self.client, heartbeat, self._report, says_leave=sync)
        self.counts = {"sent": 0, "applied": 0, "dropped": 0}
        self.pace = Pace()
        self.pass_number = 0
        self._sync = sync
        self._staged: dict[int, Push] = {}

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

    def pull(self, names: Sequence[str], average: int | None = None) -> dict[str, np.ndarray]:
        """As for RemoteParameters."""
        return self.parameters.pull(names, average, self._on_wait)

    def pieces(self, wanted: Sequence[tuple[str, int | None]]) -> Iterator[InPieces]:
        """As RemoteParameters.in_pieces()."""
        return self.parameters.in_pieces(wanted, self._on_wait)

    def _on_wait(self, index: int, reply: Wait) -> None:
        """For a server's "wait" to a pull."""
        if self.membership.is_lost:
            self.membership.join()
        self._supply(index, reply)

    def _supply(self, index: int, reply: Wait) -> None:
        """Returns when a server that restarted without parameters has some."""
        if reply.token is None:
            self.parameters.note_reply(index, reply)
            self._initialise()

    def stage(
        self, gradients: Mapping[str, Gradient], step: int, pass_number: int, versions: Sequence[Version] | None = None
    ) -> None:
        """Keeps the gradients of a step for the next exchange(), which sends them. versions: of each server's parameters,
        from which they were computed; None: the last ones that this trainer got."""
        versions = self.parameters.versions if versions is None else versions
        kind: Any = PushDelta if self.settings.by_trainers else Push
        staged, shares = {}, self.parameters.shares(gradients)
        for index in self.parameters.training:
            blocks, arrays = shares[index]
            if self._sync or any(array.size for array in arrays):
                staged[index] = kind(
                    *self.membership.life,
                    step,
                    blocks,
                    self.membership.membership,
                    versions[index].token,
                    versions[index].number,
                    pass_number,
                    min_version=step + 1 if self._sync else 0,
                    arrays=arrays,
                )
        self._staged = staged

    def take_staged(self) -> dict[int, Push]:
        """The staged pushes, by server, for an exchange that another thread makes."""
        staged, self._staged = self._staged, {}
        return staged

    def exchange(self, names: Sequence[str], rows: Mapping[str, np.ndarray], pushes: Mapping[int, Push] | None = None) -> Pulled:
        """Sends pushes, by default the staged ones, and reads the parameters that the next step needs, with at most one
        request to each server: the reply to a push has them. In sync mode they are those of the next step, unless the others
        continued without this trainer. Counts the pushes that servers drop; their parameters are then pulled."""
        staged = self.take_staged() if pushes is None else pushes
        if self.membership.is_lost:
            self.membership.join()
        selected = self.parameters.select(names, rows)
        calls = self._calls(selected, staged)
        found: dict[int, Arrays] = {}
        errors: list[ClusterError] = []
        for index, result in self._asked(calls).items():
            if isinstance(result, ClusterError):
                errors.append(result)
            else:
                self.parameters.note_reply(index, result)
                found[index] = result.arrays
                self._count("applied", isinstance(calls[index], Push))
        self._raise_unless_dropped(errors)
        missing = [index for index in range(self.settings.servers) if selected.touches(index) and index not in found]
        if missing:
            found.update(self._read(selected, missing))
        return selected.received(found)

    def settle(self) -> None:
        """Returns when the staged gradients are applied or dropped."""
        if self._staged:
            self.exchange([], {})

    def _calls(self, selected: Selection, staged: Mapping[int, Push]) -> dict[int, Push | Pull]:
        """The requests of an exchange, by server."""
        calls: dict[int, Push | Pull] = {}
        for index in range(self.settings.servers):
            push = staged.get(index)
            if push is not None:
                push.trainer, push.incarnation = self.membership.life
                push.membership = self.membership.membership
                push.wanted, push.rows = selected.keys(index)
                push.arrays = push.arrays + selected.indices(index)
                calls[index] = push
            elif selected.touches(index) or (self._sync and index in self.parameters.training):
                calls[index] = selected.pull(index)
        return calls

    def _asked(self, calls: Mapping[int, Push | Pull]) -> dict[int, Any]:
        """The result of each request, by server."""
        servers = list(calls)

        def on_wait(number: int, reply: Wait) -> None:
            index = servers[number]
            if isinstance(calls[index], Pull):
                self._on_wait(index, reply)
            else:  # a trainer that is lost joins again after the reply, which says that its push was dropped
                self._supply(index, reply)

        # Trainers that wait for each other, each at another server, would wait for ever if the servers lost what the others
        # have sent: those that have answered are asked again.
        asked = [Call(f"server {index}", calls[index]) for index in servers]
        return dict(zip(servers, self.client.request_all(asked, on_wait, asks_again=self._sync)))

    def _raise_unless_dropped(self, errors: Sequence[ClusterError]) -> None:
        """Raises an error that does not say that a push was dropped; joins the job again if this trainer was lost."""
        for error in errors:
            if not isinstance(error, (Stale, Gone)):
                raise error
            self._count("dropped", 1)
            _log.warning("%s", error)
            if isinstance(error, Gone):
                self.membership.is_lost = True
        if self.membership.is_lost:
            self.membership.join()

    def _read(self, selected: Selection, servers: Sequence[int]) -> dict[int, Arrays]:
        return self.parameters.read(selected, servers, on_wait=self._on_wait)

    def _count(self, became: str, pushes: int) -> None:
        self.counts["sent"] += pushes
        self.counts[became] += pushes

    def _report(self) -> dict[str, Any]:
        return {**self.pace.report(), **self.counts, "server_restarts": self.parameters.restarts}
