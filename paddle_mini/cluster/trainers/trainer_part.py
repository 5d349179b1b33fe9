# TrainerPart: a trainer as a part of a job: it joins, initialises the servers if it is selected, pulls and pushes.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..client import Client
from ..engine import Link
from ..errors import ClusterError, Gone, NotFinite, NotInitialised, Stale, StaleToken
from ..job_settings import JobSettings
from ..part_log import PartLogger
from ..wire import Header
from .membership import Membership
from .pace import Pace
from .remote_parameters import Gradient, Held, Pulled, RemoteParameters

Again = Callable[[Sequence[int]], None]
_log = PartLogger(__name__)


class TrainerPart:
    """values(): the parameters that this trainer has, by name: the beginning, if it is selected to give it.

    counts: pushes by what became of them, each at each server: "sent" is "applied" and "dropped" together. An applied
    one is lost if its server begins again from an older checkpoint. pass_number: of the data, from 0.
    """

    def __init__(
        self, number: int, link: Link, settings: JobSettings, held: Sequence[Held], values: Callable[[], Mapping[str, np.ndarray]]
    ):
        self.settings, self._values = settings, values
        self.client = Client(link, **settings.of_clients())
        self.parameters = RemoteParameters(self.client, held, settings.servers)
        self.membership = Membership(number, settings.servers, self.client, settings.beat_seconds, self._report)
        self.counts = {"sent": 0, "applied": 0, "dropped": 0}
        self.pace = Pace()
        self.pass_number = 0

    def begin(self) -> None:
        """Returns when all servers have all parameters."""
        self.membership.join()
        self._initialise()
        otherwise = self.parameters.trained_otherwise()
        if otherwise:
            _log.warning(
                "the job goes on with the optimizer that it was begun with, which is not this program's, for "
                "%s: in a new directory it begins anew",
                ", ".join(otherwise[:5]) + ", …" * (len(otherwise) > 5),
            )

    def _initialise(self) -> None:
        """Gives the servers their parameters, if this trainer is selected, or waits for who is."""
        while True:
            reply = self.membership.ask("begin_init")
            if not reply["selected"]:
                return
            servers = [(row["server"], row["incarnation"]) for row in reply["servers"]]
            try:
                self.parameters.give([index for index, _ in servers], reply["token"], self._values())
                self.membership.ask("finish_init", token=reply["token"], servers=servers)
            except (NotInitialised, StaleToken) as error:  # a server or this trainer was too slow, or began again
                _log.warning("it initialises once more: %s", error)

    def pull(
        self,
        names: Sequence[str],
        rows: Mapping[str, np.ndarray],
        min_version: int = 0,
        average: int | None = None,
        again: Again | None = None,
    ) -> Pulled:
        """As of RemoteParameters. again(servers) is called while it waits for servers that do not have the last push,
        since they, or this trainer, began again."""
        begun, incarnation = list(self.parameters.lives), self.membership.incarnation

        def on_wait(index: int, header: Header) -> None:
            nonlocal incarnation
            lacking: Sequence[int] = []
            if self.membership.is_lost:
                self.membership.join()
            if header["life"] != begun[index]:
                begun[index] = header["life"]
                self.parameters.heard(index, header, pulled=False)
                self._initialise()
                lacking = [index]
            if self.membership.incarnation != incarnation:  # it joined again, here or amid a request
                incarnation = self.membership.incarnation
                lacking = range(self.settings.servers)
            if lacking and again is not None:
                again(lacking)

        return self.parameters.pull(names, rows, min_version, average, on_wait)

    def push(self, gradients: Mapping[str, Gradient], step: int, pass_number: int) -> None:
        """Sends each server its part, once. What a server drops is counted."""
        self.counts["sent"] += self.settings.servers
        for _, error in self._push(gradients, step, pass_number, range(self.settings.servers)):
            if error is None:
                self.counts["applied"] += 1
            elif isinstance(error, (Stale, Gone)):
                self.counts["dropped"] += 1
                _log.warning("%s", error)
                if isinstance(error, Gone):
                    self.membership.is_lost = True
            else:
                raise error
        if self.membership.is_lost:
            self.membership.join()

    def push_again(self, gradients: Mapping[str, Gradient], step: int, pass_number: int, servers: Sequence[int]) -> None:
        """What servers may not have any more; one that has it takes no notice."""
        for _, error in self._push(gradients, step, pass_number, servers):
            if error is not None and not isinstance(error, (Stale, Gone)):
                raise error

    def _push(
        self, gradients: Mapping[str, Gradient], step: int, pass_number: int, servers: Sequence[int]
    ) -> list[tuple[int, ClusterError | None]]:
        name = "push_delta" if self.settings.by_trainers else "push"
        done: list[tuple[int, ClusterError | None]] = []
        left: Sequence[int] = servers
        while left:
            sender = {**self.membership.who, "membership": self.membership.membership, "step": step, "pass": pass_number}
            results, left = self.parameters.push(gradients, name, sender, left), []
            for index, result in results:
                if isinstance(result, NotInitialised):
                    left.append(index)
                else:
                    done.append((index, result if isinstance(result, ClusterError) else None))
            if left:
                self._initialise()
        return done

    def require_finite(self, gradients: Mapping[str, Gradient], step: int) -> None:
        """Before a push: a server would drop its part, and the others would not. NotFinite."""
        for name, gradient in gradients.items():
            if not np.isfinite(gradient[1] if isinstance(gradient, tuple) else gradient).all():
                raise NotFinite(
                    f"what trainer {self.membership.number} would push for step {step} is not finite in "
                    f"'{name}': nothing was sent"
                )

    def finish(self) -> None:
        """The others do not wait for this trainer any more."""
        self.membership.leave()

    def _report(self) -> dict[str, Any]:
        return {**self.pace.report(), **self.counts, "server_restarts": self.parameters.restarts}
