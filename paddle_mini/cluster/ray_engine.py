# RayEngine: runs each trainer and service of a job as a Ray actor, a process on one machine of a cluster.
from __future__ import annotations

import logging
import os
import shutil
import signal
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..environment import value_of
from ..threads import num_threads, set_num_threads
from .engine import Batching, Engine, Link, Respond, Service
from .errors import ClusterError, Gone, Timeout, TrainerFailed
from .process_log import ProcessLogger, forward_log
from .ray_head import HeadWatch, connect, use_token

use_token()
try:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from .service_socket import Address, Keys, ServiceSocket, local_folder
    from .socket_link import SocketLink
except ImportError as error:
    raise ImportError("engine='ray' needs Ray and pyzmq: pip install 'paddle_mini[ray]'") from error

FIND = 5.0
"""Seconds for Ray to say where a service is."""
SHOWN = 0.5
"""Seconds after which Ray has shown the output of actors."""
REST = 10.0
"""Seconds for a service to finish its work, and for the process of a trainer to end, when the job stops."""
NAMESPACE = "paddle_mini"
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
            context: Any = connect(address, namespace=NAMESPACE, **options)
            if address == "local":
                self._sockets = os.path.dirname(context.address_info["object_store_address"])
        self._head = HeadWatch(head_timeout)
        self._network = _Network(uuid.uuid4().hex, Keys.new(), local_sockets)
        self._addresses: dict[str, Address] = {}  # services, at their first start
        self._links: list[SocketLink] = []
        # An actor has its own threads and mostly waits for others: Ray need not reserve CPUs for it.
        common = {"num_cpus": 0, "scheduling_strategy": "SPREAD", "max_task_retries": 0, "namespace": NAMESPACE}
        self._of_services = {**common, "max_restarts": -1, **(service_options or {})}
        self._of_trainers = {**common, "max_restarts": 0, **(trainer_options or {})}
        self._services: dict[str, Any] = {}
        self._trainers: dict[int, tuple[Any, Any]] = {}  # the newest incarnation: the actor, its node and process id

    def serve(self, services: Mapping[str, Callable[[Link], Service]]) -> None:
        begun: dict[Any, str] = {}
        for name, make in services.items():
            options = {**self._of_services, "name": _actor_name(self._network.prefix, name)}
            actor: Any = ray.remote(_ServiceActor).options(**options).remote(name, make, self._network)
            self._services[name] = actor
            begun[actor.begun.remote()] = name
        self._require_begun(begun)
        for name, (error, address) in zip(begun.values(), ray.get(list(begun))):
            if error is not None:
                raise error
            self._addresses[name] = address

    def link(self) -> Link:
        self._links.append(self._network.link(self._addresses))
        return self._links[-1]

    def run_trainers(self, work: Callable[[int, Link], Any], count: int, restarts: int) -> list[Any]:
        results: list[Any] = [None] * count
        lives = [0] * count
        running: dict[Any, int] = {}
        machines = sum(node["Alive"] for node in ray.nodes())
        side_by_side = -(-count // max(machines, 1))

        def begin(number: int) -> None:
            lives[number] += 1
            actor: Any = ray.remote(_TrainerActor).options(**self._of_trainers).remote(number, side_by_side)
            self._trainers[number] = actor, actor.process.remote()
            running[actor.run.remote(work, self._network, self._addresses)] = number

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


class _ServiceActor:
    """The actor of a service, which a thread of its own serves: Ray calls only what is not a request."""

    def __init__(self, name: str, make: Callable[[Link], Service], network: _Network):
        self._name, self._make, self._link = name, make, network.link({})
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
            self._socket.serve(self._take, self._tick, self._stopped.is_set, self._flush)
            if self._service is not None:
                self._service.rest()
            self._socket.close()
        except BaseException:  # Ray starts it again; without this thread it would be silent forever
            logging.getLogger(__name__).exception("%s ends", self._name)
            os._exit(1)

    def _take(self, header: bytes, arrays: Sequence[Any], respond: Respond, patience: float) -> None:
        if self._service is None:
            respond(Gone(f"it could not start: {self._error}"))
        else:
            self._service.take(header, arrays, respond, patience)

    def _flush(self) -> None:
        if isinstance(self._service, Batching):
            self._service.flush()

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


class _TrainerActor:
    """The actor of a trainer."""

    def __init__(self, number: int, side_by_side: int):
        """side_by_side: the number of trainers that share this machine's CPUs."""
        self._number = number
        if not value_of("PM_NUM_THREADS"):
            set_num_threads(max(1, num_threads() // side_by_side))
        forward_log(repr(self))

    def __repr__(self) -> str:
        return f"trainer {self._number}"

    def process(self) -> tuple[str, int]:
        return _this_process()

    def run(self, work: Callable[[int, Link], Any], network: _Network, known: Mapping[str, Address]) -> Any:
        return work(self._number, network.link(known))


class _Network(NamedTuple):
    """How the processes of a job reach each other. prefix: of the names of its actors; is_local: whether processes of one
    machine use local sockets."""

    prefix: str
    keys: Keys
    is_local: bool

    def link(self, known: Mapping[str, Address]) -> SocketLink:
        return SocketLink(self.keys, ray.get_runtime_context().get_node_id(), self._find, known)

    def socket(self, name: str) -> ServiceSocket:
        machine, host = ray.get_runtime_context().get_node_id(), ray.util.get_node_ip_address()
        return ServiceSocket(name, self.keys, machine, host, local_folder(self.prefix) if self.is_local else "")

    def _find(self, service: str) -> Address | None:
        """The address of a service that may have been restarted, from its actor."""
        try:
            actor = ray.get_actor(_actor_name(self.prefix, service), NAMESPACE)
            address: Address = ray.get(actor.address.remote(), timeout=FIND)
            return address
        except (ValueError, ray.exceptions.RayError):  # there is none, or it is dead, or does not run yet
            return None


def _this_process() -> tuple[str, int]:
    """The node id of this process in Ray, and its process id."""
    return ray.get_runtime_context().get_node_id(), os.getpid()


def _await_end(process: int, seconds: float) -> None:
    """Returns when the process of this machine has ended, or after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except OSError:
            return
        time.sleep(0.01)


def _actor_name(prefix: str, service: str) -> str:
    """The name of an actor, unique on the cluster."""
    return f"{prefix} {service}"
