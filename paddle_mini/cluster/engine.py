# Engine: where the parts of a job run, and how requests reach them.
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .errors import ClusterError
from .wire import Arrays

Answer = tuple[bytes, Arrays] | ClusterError


class Envelope(NamedTuple):
    """A request as bytes, for a service, by its name: "coordinator", "server 0", …"""

    service: str
    header: bytes
    arrays: Arrays


class Service(Protocol):
    """What answers requests, one at a time; tick() comes between them, some times a second. Gone: it does not serve, at
    the moment, so that who asks asks again."""

    def handle(self, header: bytes, arrays: Sequence[Any]) -> Answer: ...

    def tick(self) -> None: ...


class Link(ABC):
    """The way from one part of a job to the services."""

    @abstractmethod
    def send(self, requests: Sequence[Envelope], timeout: float) -> list[Answer]:
        """What became of each request, in their order: the reply; Gone: there is no such service, at the moment;
        Timeout, after so many seconds. Whether a request without a reply was done is not known."""


class Killed(BaseException):
    """This life of a trainer is over: a link raises it, and no code of users or ours deals with it."""


class Engine(ABC):
    """Starts services and trainers, and ends them."""

    @abstractmethod
    def serve(self, services: Mapping[str, Callable[[Link], Service]]) -> None:
        """Starts services, by name, at the same time; what makes one is called for each life of it, with a link to the
        other services. What the first call raises is raised here, of the first service that has such a one."""

    @abstractmethod
    def link(self) -> Link:
        """A link for whoever started the job."""

    @abstractmethod
    def run_trainers(self, work: Callable[[int, Link], Any], count: int, restarts: int) -> list[Any]:
        """Runs work(number, link) for each trainer, all at the same time; what they return, in order. One that dies is
        begun again, so many times; when one raises, the others are ended, and TrainerFailed is raised from it."""

    @abstractmethod
    def stop(self) -> None:
        """Ends what is left."""
