# RayEngine: runs each trainer and service of a job as a Ray actor, a process on one machine of a cluster.
from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..environment import value_of
from ..termination import in_main_thread
from .engine import Engine, Link, Service, TrainerLink, nothing
from .errors import ClusterError
from .ray_head import HeadWatch, connect, token_hint, use_token

use_token()
try:
    import ray

    from .ray_actors import NAMESPACE, Network, ServiceActor, actor_name
    from .ray_places import Begins, actor_options, options_of
    from .ray_trainers import RayTrainers
    from .service_socket import Address, Keys
    from .socket_link import SocketLink
except ImportError as error:
    raise ImportError("engine='ray' needs Ray and pyzmq: pip install 'paddle_mini[ray]'") from error

SHOWN = 0.5
"""Seconds after which Ray has shown the output of actors."""
REST = 10.0
"""Seconds for a service to finish its work when the job stops."""


class RayEngine(Engine):
    """address: of a Ray cluster, as for ray.init; None: that of the environment's RAY_ADDRESS, or a local one for this
    job. If this process has initialised Ray, that cluster is used and left running. service_options, trainer_options:
    additional Ray options of these actors, such as {"num_gpus": 1}. start_timeout: seconds in which the cluster must
    start them. head_timeout: seconds without an answer of Ray's head after which the job ends, with HeadLost. ships: a
    folder that all processes get as their working directory, without what .gitignore and leaves_out name. local_sockets:
    whether processes of one machine use sockets that only this user can open, without encryption; False: they use the
    encrypted connections between machines.

    Ray places, starts and restarts the processes, services without limit, hands out the keys of the job, and knows where a
    service is. Requests and replies go through sockets between the processes.
    """

    def __init__(
        self,
        address: str | None = None,
        service_options: Mapping[str, Any] | None = None,
        trainer_options: Mapping[str, Any] | None = None,
        start_timeout: float = 300.0,
        head_timeout: float = 12.0,
        ships: str | None = None,
        leaves_out: Sequence[str] = (),
        local_sockets: bool = True,
    ):
        self._of_services = actor_options("service_options", service_options, restarts=-1)
        self._of_trainers = actor_options("trainer_options", trainer_options, restarts=0)
        self._start_timeout = start_timeout
        self._own, self._sockets = not ray.is_initialized(), ""
        if self._own:
            address = address or value_of("RAY_ADDRESS") or "local"
            options: Any = {"include_dashboard": False} if address == "local" else {}
            if ships is not None:
                options["runtime_env"] = {"working_dir": ships, "excludes": list(leaves_out)}
            self._sigterm = signal.getsignal(signal.SIGTERM)  # which Ray replaces
            context: Any = connect(address, namespace=NAMESPACE, **options)
            if address == "local":
                self._sockets = os.path.dirname(context.address_info["object_store_address"])
        self._head = HeadWatch(head_timeout)
        self._network = Network(uuid.uuid4().hex, Keys.new(), local_sockets)
        self._addresses: dict[str, Address] = {}  # services, at their first start
        self._links: list[SocketLink] = []
        self._services: dict[str, tuple[Any, Any]] = {}  # the actor, and its first reply
        self._trainers: RayTrainers | None = None

    def serve(self, services: Mapping[str, Callable[[Link], Service]]) -> None:
        for name, make in services.items():
            options = {**self._of_services, "name": actor_name(self._network.prefix, name)}
            with options_of("service_options"):
                actor: Any = ray.remote(ServiceActor).options(**options).remote(name, make, self._network)
            self._services[name] = actor, actor.begun.remote()
        begun = {self._services[name][1]: name for name in services}
        Begins(self._head, self._of_services, self._start_timeout).require(begun)
        for reply, name in begun.items():
            try:
                error, address = ray.get(reply)
            except ray.exceptions.RayError as died:
                raise ClusterError(f"Ray could not start {name}: {died}{token_hint()}") from died
            if error is not None:
                raise error
            self._addresses[name] = address

    def link(self) -> Link:
        self._links.append(self._network.link(self._addresses, self._service_actors()))
        return self._links[-1]

    def run_trainers(
        self, work: Callable[[int, TrainerLink], Any], count: int, restarts: int, stopping: Callable[[], None] = nothing
    ) -> list[Any]:
        given = self._network, self._addresses, self._service_actors()
        self._trainers = RayTrainers(self._head, self._of_trainers, self._start_timeout, given)
        return self._trainers.run(work, count, restarts, stopping)

    def stop(self) -> None:
        begun = [actor for actor, reply in self._services.values() if ray.wait([reply], timeout=0)[0]]  # others wait for a place
        resting = [actor.rest.remote() for actor in begun]
        if resting:
            ray.wait(
                resting, num_returns=len(resting), timeout=REST / (1 + self._head.is_lost)
            )  # Ray kills processes with a delay
        for actor in self._service_actors().values():
            ray.kill(actor)
        self._head.stop()
        for link in self._links:
            link.close()
        shutil.rmtree(os.path.join(tempfile.gettempdir(), f"paddle_mini_{self._network.prefix}"), ignore_errors=True)
        if self._own:
            time.sleep(SHOWN)
            ray.shutdown()
            if in_main_thread():
                signal.signal(signal.SIGTERM, self._sigterm)
            if self._sockets:  # those of the stopped cluster
                shutil.rmtree(self._sockets, ignore_errors=True)

    def _service_actors(self) -> dict[str, Any]:
        return {name: actor for name, (actor, _) in self._services.items()}

    def kill(self, name: str) -> None:
        """kill -9 of an actor's process on this machine, for tests."""
        if name.startswith("trainer "):
            assert self._trainers is not None
            process = self._trainers.process(int(name.split()[1]))
        else:
            process = ray.get(self._services[name][0].process.remote())[1]
        os.kill(process, signal.SIGKILL)
