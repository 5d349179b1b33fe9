# The trainers of a job on Ray: starts their actors, runs them, restarts those that die, and ends them.
from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .engine import TrainerLink
from .errors import Timeout, TrainerFailed
from .process_log import ProcessLogger
from .ray_actors import TrainerActor
from .ray_head import HeadWatch
from .ray_places import PATIENCE, Begins, elsewhere, options_of

REST = 10.0
"""Seconds for the process of a trainer to end when the job stops."""
_log = ProcessLogger(__name__)

Work = Callable[[int, TrainerLink], Any]


class RayTrainers:
    """given: what the actors' run() takes besides the work. limit: seconds in which Ray must start them."""

    def __init__(self, head: HeadWatch, options: Mapping[str, Any], limit: float, given: tuple[Any, ...]):
        self._head, self._options, self._limit, self._given = head, options, limit, given
        self._actors: dict[int, tuple[Any, Any]] = {}  # the newest incarnation: the actor, its node and process id
        self._starting: dict[Any, int] = {}
        self._running: dict[Any, int] = {}
        self._lives: Counter[int] = Counter()
        self._unreachable: set[str] = set()  # machines of trainers that could not be reached

    def run(self, work: Work, count: int, restarts: int, stopping: Callable[[], None]) -> list[Any]:
        """As Engine.run_trainers."""
        results: list[Any] = [None] * count
        try:
            for number in range(count):
                self._start(number)
            self._begins().require(self._names())
            while self._starting or self._running:
                ended = self._next()
                begins = ended in self._starting
                number = (self._starting if begins else self._running).pop(ended)
                try:
                    result = ray.get(ended)
                    if begins:
                        self._let_run(number, work)
                    else:
                        results[number] = result
                except ray.exceptions.RayActorError as error:
                    self._restart(number, restarts, error)
                except Exception as error:
                    raised = getattr(error, "cause", None) or error  # Ray's has the actor's traceback as well
                    raise TrainerFailed.of(number, raised) from error
            return results
        except (KeyboardInterrupt, TrainerFailed):
            stopping()
            raise
        finally:
            for actor, _ in self._actors.values():
                ray.kill(actor)
            self._await_ends()

    def process(self, number: int) -> int:
        """The process id of a trainer."""
        return int(ray.get(self._actors[number][1])[1])

    def _start(self, number: int) -> None:
        self._lives[number] += 1
        with options_of("trainer_options"):
            actor: Any = ray.remote(TrainerActor).options(**elsewhere(self._options, self._unreachable)).remote(number)
        began = actor.process.remote()
        self._actors[number] = actor, began
        self._starting[began] = number

    def _let_run(self, number: int, work: Work) -> None:
        machines = [self._machine(one) for one in self._actors]
        side_by_side = machines.count(self._machine(number))
        self._running[self._actors[number][0].run.remote(side_by_side, work, *self._given)] = number

    def _restart(self, number: int, restarts: int, error: Exception) -> None:
        self._head.confirm()
        ray.kill(self._actors[number][0])  # if it was only unreachable
        machine = self._machine(number)
        if self._lives[number] > restarts:
            raise TrainerFailed(f"trainer {number} died, and was restarted {restarts} times before") from error
        if machine and isinstance(error, ray.exceptions.ActorUnavailableError):
            self._unreachable.add(machine)
        _log.warning("trainer %d died; it is restarted", number)
        self._start(number)

    def _next(self) -> Any:
        """A trainer that has begun, or ended. TrainerFailed when all others have ended, and Ray does not start the last ones."""
        begins = self._begins()
        while True:
            ready = self._head.wait([*self._starting, *self._running], 1, PATIENCE)
            if ready:
                return ready[0]
            if self._running:
                begins.explain(list(self._names().values()))
            else:
                try:
                    begins.require(self._names())
                except Timeout as error:
                    raise TrainerFailed(f"a trainer died, and {error}") from error

    def _begins(self) -> Begins:
        return Begins(self._head, self._options, self._limit)

    def _names(self) -> dict[Any, str]:
        return {began: f"trainer {number}" for began, number in self._starting.items()}

    def _machine(self, number: int) -> str:
        """The node of a trainer; "" if it has not begun, or died before."""
        try:
            return str(ray.get(self._actors[number][1], timeout=0)[0])
        except ray.exceptions.RayError:
            return ""

    def _await_ends(self) -> None:
        """Ray kills a process a while after it is told to; until then it may write files."""
        here, end = ray.get_runtime_context().get_node_id(), time.monotonic() + REST
        others = []
        for _, which in self._actors.values():
            try:
                machine, process = ray.get(which, timeout=0)
            except ray.exceptions.RayError:  # it never began, or died then
                continue
            if machine == here:
                if self._head.is_lost:  # Ray can't end it
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                _await_end(process, end - time.monotonic())
            elif not self._head.is_lost and machine not in self._unreachable:
                there: Any = NodeAffinitySchedulingStrategy(machine, soft=False)
                options = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": there}
                others.append(ray.remote(_await_end).options(**options).remote(process, end - time.monotonic()))
        if others:
            ray.wait(others, num_returns=len(others), timeout=max(0.0, end - time.monotonic()))


def _await_end(process: int, seconds: float) -> None:
    """Returns when the process of this machine has ended, or after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except OSError:
            return
        time.sleep(0.01)
