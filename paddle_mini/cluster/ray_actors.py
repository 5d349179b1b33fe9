# The processes of a job on Ray: actors of services and trainers, and how they reach each other.
from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import ray

from ..environment import value_of
from ..threads import num_threads, set_num_threads
from .engine import Batching, Link, Respond, Service, TrainerLink
from .errors import ClusterError, Gone
from .process_log import ProcessLogger, forward_log
from .service_socket import Address, Keys, ServiceSocket, local_folder
from .socket_link import SocketLink

FIND = 5.0
"""Seconds for Ray to say where a service is."""
NAMESPACE = "paddle_mini"
_log = ProcessLogger(__name__)


class ServiceActor:
    """The actor of a service, which a thread of its own serves: Ray calls only what is not a request."""

    def __init__(self, name: str, make: Callable[[Link], Service], network: Network):
        self._name, self._make, self._link = name, make, network.link({}, {})
        self._service: Service | None = None
        self._error: Exception | None = None
        self._stopped = threading.Event()
        forward_log(name)
        self._socket = network.socket(name)
        self._begin()
        self._serving = threading.Thread(target=self._serve, name=f"{name} requests", daemon=True)
        self._serving.start()

    def __repr__(self) -> str:  # Ray prefixes the actor's output with it
        return self._name

    def begun(self) -> tuple[Exception | None, Address]:
        """The error with which the service failed to start, and its address."""
        return self._error, self._socket.address

    def address(self) -> Address:
        return self._socket.address

    def process(self) -> tuple[str, int]:
        return _this_process()

    def rest(self) -> None:
        """Stops handling requests: when this returns, all writes have finished, and no file is open."""
        self._stopped.set()
        self._serving.join()

    def _begin(self) -> None:
        """Starts the service; keeps an error, as Ray would restart an actor whose constructor raises forever."""
        try:
            self._service = self._make(self._link)
            if isinstance(self._service, Batching):
                self._service.batched = True
            self._service.tick()
        except Exception as error:
            self._service, self._error = None, error

    def _serve(self) -> None:
        try:
            self._socket.serve(self._take, self._tick, self._stopped.is_set, self._batching)
            if self._service is not None:
                self._service.rest()
            self._socket.close()
        except BaseException:  # Ray starts it again; without this thread it would be silent forever
            logging.getLogger(__name__).exception("%s ends", self._name)
            os._exit(1)

    def _take(self, header: bytes, arrays: Sequence[Any], respond: Respond, patience: float, memory: memoryview | None) -> None:
        if self._service is None:
            respond(Gone(f"it could not start: {self._error}"))
        else:
            self._service.take(header, arrays, respond, patience, memory)

    def _batching(self) -> Batching | None:
        return self._service if isinstance(self._service, Batching) else None

    def _tick(self) -> None:
        try:
            if self._service is None:  # the reason of the failure, such as a full disk, may be gone
                self._begin()
            else:
                self._service.tick()
        except ClusterError as error:
            _log.error("%s", error)
        except Exception:  # retried at the next tick
            _log.exception("a tick failed")


class TrainerActor:
    """The actor of a trainer."""

    def __init__(self, number: int):
        self._number = number
        forward_log(repr(self))

    def __repr__(self) -> str:
        return f"trainer {self._number}"

    def process(self) -> tuple[str, int]:
        return _this_process()

    def run(
        self,
        side_by_side: int,
        work: Callable[[int, TrainerLink], Any],
        network: Network,
        known: Mapping[str, Address],
        actors: Mapping[str, Any],
    ) -> Any:
        """side_by_side: the number of trainers that share this machine's CPUs."""
        if not value_of("PM_NUM_THREADS"):
            set_num_threads(max(1, num_threads() // side_by_side))
        return work(self._number, network.link(known, actors))


class Network(NamedTuple):
    """How the processes of a job reach each other. prefix: of the names of its actors; is_local: whether processes of one
    machine use local sockets."""

    prefix: str
    keys: Keys
    is_local: bool

    def link(self, known: Mapping[str, Address], actors: Mapping[str, Any]) -> SocketLink:
        """known: addresses of services; actors: their actors. Others are looked for by their names."""
        machine = ray.get_runtime_context().get_node_id()
        return SocketLink(self.keys, machine, partial(self._find, dict(actors)), known, self.socket)

    def socket(self, name: str) -> ServiceSocket:
        machine, host = ray.get_runtime_context().get_node_id(), ray.util.get_node_ip_address()
        return ServiceSocket(name, self.keys, machine, host, local_folder(self.prefix) if self.is_local else "")

    def _find(self, actors: dict[str, Any], service: str) -> Address | None:
        """The address of a service that may have been restarted, from its actor. Ray's head knows actors by name, and Ray
        waits for the head without a limit, so the name is asked for once."""
        try:
            if service not in actors:
                actors[service] = ray.get_actor(actor_name(self.prefix, service), NAMESPACE)
            address: Address = ray.get(actors[service].address.remote(), timeout=FIND)
            return address
        except (ValueError, ray.exceptions.RayError):  # there is none, or it is dead, or does not run yet
            return None


def _this_process() -> tuple[str, int]:
    """The node id of this process in Ray, and its process id."""
    return ray.get_runtime_context().get_node_id(), os.getpid()


def actor_name(prefix: str, service: str) -> str:
    """The name of an actor, unique on the cluster."""
    return f"{prefix} {service}"
