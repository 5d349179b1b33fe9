# RayEngine: runs each trainer and service of a job as a Ray actor, a process on one machine of a cluster.
from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..environment import value_of
from ..termination import in_main_thread
from .engine import Engine, Link, Service, TrainerLink, nothing
from .errors import Timeout, TrainerFailed
from .process_log import ProcessLogger
from .ray_head import HeadWatch, connect, use_token

use_token()
try:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from .ray_actors import NAMESPACE, Network, ServiceActor, TrainerActor, actor_name
    from .service_socket import Address, Keys
    from .socket_link import SocketLink
except ImportError as error:
    raise ImportError("engine='ray' needs Ray and pyzmq: pip install 'paddle_mini[ray]'") from error

SHOWN = 0.5
"""Seconds after which Ray has shown the output of actors."""
REST = 10.0
"""Seconds for a service to finish its work, and for the process of a trainer to end, when the job stops."""
SHARE_OF_CPU = 0.001
"""A process mostly waits for others and has its own threads, so Ray need not reserve CPUs for it; but processes without any
resources are placed at random, not on one machine after another."""
_log = ProcessLogger(__name__)


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
        common = {"num_cpus": SHARE_OF_CPU, "scheduling_strategy": "SPREAD", "max_task_retries": 0, "namespace": NAMESPACE}
        self._of_services = {**common, "max_restarts": -1, **(service_options or {})}
        self._of_trainers = {**common, "max_restarts": 0, **(trainer_options or {})}
        self._services: dict[str, Any] = {}
        self._trainers: dict[int, tuple[Any, Any]] = {}  # the newest incarnation: the actor, its node and process id

    def serve(self, services: Mapping[str, Callable[[Link], Service]]) -> None:
        begun: dict[Any, str] = {}
        for name, make in services.items():
            options = {**self._of_services, "name": actor_name(self._network.prefix, name)}
            actor: Any = ray.remote(ServiceActor).options(**options).remote(name, make, self._network)
            self._services[name] = actor
            begun[actor.begun.remote()] = name
        self._require_begun(begun)
        for name, (error, address) in zip(begun.values(), ray.get(list(begun))):
            if error is not None:
                raise error
            self._addresses[name] = address

    def link(self) -> Link:
        self._links.append(self._network.link(self._addresses, self._services))
        return self._links[-1]

    def run_trainers(
        self, work: Callable[[int, TrainerLink], Any], count: int, restarts: int, stopping: Callable[[], None] = nothing
    ) -> list[Any]:
        results: list[Any] = [None] * count
        lives = [0] * count
        running: dict[Any, int] = {}
        machines = sum(node["Alive"] and node["Resources"].get("CPU", 0) > 0 for node in ray.nodes())
        side_by_side = -(-count // max(machines, 1))

        def begin(number: int) -> None:
            lives[number] += 1
            actor: Any = ray.remote(TrainerActor).options(**self._of_trainers).remote(number, side_by_side)
            self._trainers[number] = actor, actor.process.remote()
            running[actor.run.remote(work, self._network, self._addresses, self._services)] = number

        try:
            for number in range(count):
                begin(number)
            self._require_begun({begun: f"trainer {number}" for number, (_, begun) in self._trainers.items()})
            while running:
                (ended,) = self._head.wait(list(running), 1)
                number = running.pop(ended)
                try:
                    results[number] = ray.get(ended)
                except ray.exceptions.RayActorError as error:
                    self._head.confirm()
                    ray.kill(self._trainers[number][0])  # if it was only unreachable
                    if lives[number] > restarts:
                        raise TrainerFailed(f"trainer {number} died, and was restarted {restarts} times before") from error
                    _log.warning("trainer %d died; it is restarted", number)
                    begin(number)
                except Exception as error:
                    raised = getattr(error, "cause", None) or error  # Ray's has the actor's traceback as well
                    raise TrainerFailed.of(number, raised) from error
            return results
        except (KeyboardInterrupt, TrainerFailed):
            stopping()
            raise
        finally:
            self._end(actor for actor, _ in self._trainers.values())
            self._await_trainers()

    def stop(self) -> None:
        resting = [actor.rest.remote() for actor in self._services.values()]
        if resting:
            ray.wait(
                resting, num_returns=len(resting), timeout=REST / (1 + self._head.is_lost)
            )  # Ray kills processes with a delay
        self._end(self._services.values())
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

    def _require_begun(self, parts: Mapping[Any, str]) -> None:
        """parts: the names of actors by the references of their first replies."""
        ready = self._head.wait(list(parts), len(parts), self._start_timeout)
        missing = [name for part, name in parts.items() if part not in ready]
        if missing:
            raise Timeout(f"Ray has not started {missing[0]} in {self._start_timeout:g} s: see `ray status`")

    def _end(self, actors: Iterable[Any]) -> None:
        for actor in actors:
            ray.kill(actor)

    def _await_trainers(self) -> None:
        """Ray kills a process a while after it is told to; until then it may write files."""
        here, end = ray.get_runtime_context().get_node_id(), time.monotonic() + REST
        elsewhere = []
        for _, which in self._trainers.values():
            try:
                machine, process = ray.get(which, timeout=0)
            except ray.exceptions.RayError:  # it never began, or died then
                continue
            if machine == here:
                if self._head.is_lost:  # Ray can't end it
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                _await_end(process, end - time.monotonic())
            elif not self._head.is_lost:
                there: Any = NodeAffinitySchedulingStrategy(machine, soft=False)
                options = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": there}
                elsewhere.append(ray.remote(_await_end).options(**options).remote(process, end - time.monotonic()))
        if elsewhere:
            ray.wait(elsewhere, num_returns=len(elsewhere), timeout=max(0.0, end - time.monotonic()))

    def kill(self, name: str) -> None:
        """kill -9 of an actor's process on this machine, for tests."""
        if name.startswith("trainer "):
            which = self._trainers[int(name.split()[1])][1]
        else:
            which = self._services[name].process.remote()
        os.kill(ray.get(which)[1], signal.SIGKILL)


def _await_end(process: int, seconds: float) -> None:
    """Returns when the process of this machine has ended, or after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except OSError:
            return
        time.sleep(0.01)
