# Engine: starts the processes of a job and carries requests between them.
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .errors import ClusterError
from .wire import Arrays

Answer = tuple[bytes, Arrays] | ClusterError
Respond = Callable[[Answer], None]


class Envelope(NamedTuple):
    """A request as bytes, for a service, by its name: "coordinator", "server 0", … patience: seconds for which the
    service may keep it until its reply is known, before it replies "wait". Its arrays may be overwritten after
    the answer."""

    service: str
    header: bytes
    arrays: Arrays
    patience: float = 0.0


class Service(Protocol):
    """Answers requests, one at a time; tick() is called between them, several times a second. Gone: it does not serve
    at the moment, and the sender retries."""

    def handle(self, header: bytes, arrays: Sequence[Any]) -> Answer:
        """The answer, which is "wait" where it depends on other requests."""
        ...

    def take(
        self, header: bytes, arrays: Sequence[Any], respond: Respond, patience: float, memory: memoryview | None = None
    ) -> None:
        """Calls respond(answer) once: now, or in a later call of this service when the answer is known, but at the
        latest after `patience` seconds. Other calls of the service may come between. memory: for the arrays of this
        answer, which are sent without a copy from there; it is not read before."""
        ...

    def tick(self) -> None: ...

    def rest(self) -> None:
        """Returns when nothing runs beside the calls; no other call follows."""
        ...


class Batching:
    """Base of a service whose replies to several requests cost no more than one, because they wait for the same. batched:
    the engine calls flush() when no other request waits, so that replies may wait for it."""

    batched = False

    def flush(self) -> None:
        """Gives the replies that wait."""


class Link(ABC):
    """The connection of one process of a job to the services."""

    @abstractmethod
    def send(self, requests: Sequence[Envelope], timeout: float) -> list[Answer]:
        """The result of each request, in their order: the reply; Gone: the service does not run at the moment; Timeout,
        after so many seconds. A request without a reply may or may not have been handled."""


class TrainerLink(Link):
    """The link of a trainer, on which it may have a service for other trainers."""

    @abstractmethod
    def serve(self, name: str, service: Service) -> str:
        """Starts a service in this process, until it ends; returns the address that others learn()."""

    @abstractmethod
    def learn(self, name: str, address: str) -> None:
        """The service of this name is reached at this address, which serve() has returned in its process."""


class Killed(BaseException):
    """Ends a trainer: raised by its link, and not caught by code of users or of this package."""


def nothing() -> None:
    """The default of `stopping`: an engine stops trainers at once."""


class Engine(ABC):
    """Starts and stops services and trainers."""

    @abstractmethod
    def serve(self, services: Mapping[str, Callable[[Link], Service]]) -> None:
        """Starts services, by name, concurrently; the factory of a service is called at each start, with a link to the
        other services. Raises the first error of the first calls."""

    @abstractmethod
    def link(self) -> Link:
        """A link for the process that started the job."""

    @abstractmethod
    def run_trainers(
        self, work: Callable[[int, TrainerLink], Any], count: int, restarts: int, stopping: Callable[[], None] = nothing
    ) -> list[Any]:
        """Runs work(number, link) for all trainers concurrently; returns their results, in order. A trainer that dies
        is restarted, at most `restarts` times; when one raises, the others are stopped, and TrainerFailed is raised
        from it. stopping() is called before that, and before Ctrl-C stops all: trainers still run."""

    @abstractmethod
    def stop(self) -> None:
        """Stops all services."""
