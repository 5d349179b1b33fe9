# RayEngine: runs each trainer and service of a job as a Ray actor, a process on one machine of a cluster.
from __future__ import annotations

import os
import shutil
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..environment import value_of
from ..threads import num_threads, set_num_threads
from .engine import Answer, Engine, Envelope, Link, Service
from .errors import ClusterError, Gone, Timeout, TrainerFailed
from .process_log import ProcessLogger, forward_log
from .ray_head import HeadWatch, connect, use_token

use_token()
try:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise ImportError("engine='ray' needs Ray: pip install 'paddle_mini[ray]'") from error

TICK = 0.1
"""Seconds from one tick of a service to the next."""
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
    folder that all processes get as their working directory, without what .gitignore and leaves_out name.

    Ray restarts a service that dies, without limit. Ray must not repeat requests: the client does, as it is not known
    whether a request without a reply was handled.
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
        self._prefix = uuid.uuid4().hex
        # An actor has its own threads and mostly waits for others: Ray need not reserve CPUs for it.
        common = {"num_cpus": 0, "scheduling_strategy": "SPREAD", "max_task_retries": 0, "namespace": NAMESPACE}
        self._of_services = {**common, "max_restarts": -1, **(service_options or {})}
        self._of_trainers = {**common, "max_restarts": 0, **(trainer_options or {})}
        self._services: dict[str, Any] = {}
        self._trainers: dict[int, tuple[Any, Any]] = {}  # the newest incarnation: the actor, its node and process id

    def serve(self, services: Mapping[str, Callable[[Link], Service]]) -> None:
        errors: dict[Any, str] = {}
        for name, make in services.items():
            options = {**self._of_services, "name": _actor_name(self._prefix, name)}
            actor: Any = ray.remote(_ServiceActor).options(**options).remote(name, make, self._prefix)
            self._services[name] = actor
            errors[actor.error.remote()] = name
        self._require_begun(errors)
        for error in ray.get(list(errors)):
            if error is not None:
                raise error

    def link(self) -> Link:
        return _RayLink(self._prefix)

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
            running[actor.run.remote(work, self._prefix)] = number

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
    """The actor of a service, with one call at a time."""

    def __init__(self, name: str, make: Callable[[Link], Service], prefix: str):
        self._name, self._make, self._prefix = name, make, prefix
        self._lock = threading.Lock()
        self._service: Service | None = None
        self._error: Exception | None = None
        forward_log(name)
        self._begin()
        threading.Thread(target=self._tick, name=f"{name} ticks", daemon=True).start()

    def __repr__(self) -> str:  # Ray prefixes the actor's output with it
        return self._name

    def error(self) -> Exception | None:
        """The error with which the service failed to start."""
        return self._error

    def process(self) -> tuple[str, int]:
        return _this_process()

    def handle(self, header: bytes, arrays: Sequence[Any]) -> Answer:
        with self._lock:
            if self._service is None:
                return Gone(f"it could not start: {self._error}")
            return self._service.handle(header, arrays)

    def rest(self) -> None:
        """Stops handling requests: when this returns, all writes have finished, and no file is open."""
        self._lock.acquire()
        if self._service is not None:
            self._service.rest()

    def _begin(self) -> None:
        """Starts the service; keeps an error, as Ray would restart an actor whose constructor raises forever."""
        try:
            self._service = self._make(_RayLink(self._prefix))
            self._service.tick()
        except Exception as error:
            self._service, self._error = None, error

    def _tick(self) -> None:
        while True:
            time.sleep(TICK)
            with self._lock:
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

    def run(self, work: Callable[[int, Link], Any], prefix: str) -> Any:
        return work(self._number, _RayLink(prefix))


class _RayLink(Link):
    """Sends requests concurrently, with the arrays of a request as one Ray object."""

    def __init__(self, prefix: str):
        self._prefix = prefix
        self._actors: dict[str, Any] = {}

    def send(self, requests: Sequence[Envelope], timeout: float) -> list[Answer]:
        sent = [self._begin(request) for request in requests]
        refs = [one for one in sent if not isinstance(one, ClusterError)]
        end = time.monotonic() + timeout
        try:
            replies = iter(ray.get(refs, timeout=timeout))  # all at once, which is fastest
            return [one if isinstance(one, ClusterError) else next(replies) for one in sent]
        except ray.exceptions.RayError:  # one of them failed, or some are late: each gets its own answer
            ray.wait(refs, num_returns=len(refs), timeout=max(0.0, end - time.monotonic()))
            return [one if isinstance(one, ClusterError) else _answer(one, timeout) for one in sent]

    def _begin(self, request: Envelope) -> Any:
        actor = self._actors.get(request.service)
        if actor is None:
            try:
                actor = ray.get_actor(_actor_name(self._prefix, request.service), NAMESPACE)
            except ValueError:
                return Gone("it does not run")
            self._actors[request.service] = actor
        return actor.handle.remote(request.header, request.arrays)


def _answer(ref: Any, timeout: float) -> Answer:
    try:
        answer: Answer = ray.get(ref, timeout=0)
        return answer
    except ray.exceptions.GetTimeoutError:
        return Timeout(f"no reply in {timeout:g} s")
    except ray.exceptions.RayError as error:
        return Gone(str(error).splitlines()[0])


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
