# ReplicaThreads: runs work of all replicas concurrently, each in its own thread; either all do it or none.
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from . import _core
from ._core import Error

Values = list[Any]


class ReplicaThreads:
    """The thread that calls run(), for the first replica, and one for each other, on these places. communicator: where
    they meet.

    An interrupt may come between any two steps of the thread that calls: so what others are given goes through queues in
    C, and every thread that got work is waited for.
    """

    def __init__(self, places: list[str]):
        self.count = count = len(places)
        self.communicator = _core.Communicator(places)
        self._unfinished: _Run | None = None
        self._tasks: list[SimpleQueue[Any]] = [SimpleQueue() for _ in range(1, count)]
        for tasks in self._tasks:
            threading.Thread(target=_carry_out, args=[tasks], name="replica", daemon=True).start()
        weakref.finalize(self, _end, self._tasks)

    def run(self, work: Callable[[int], Values]) -> list[Values]:
        """The results of work(rank), by rank. If one raises, the others are stopped, and its error is raised when all
        have ended; Ctrl-C takes precedence."""
        if self._unfinished is not None:  # by an interrupt during the handling of another one
            self.communicator.cancel("the caller was interrupted")
            self._unfinished.finish(self._tasks)
        self.communicator.reset()
        run = self._unfinished = _Run(work, self.count, self.communicator)
        while self._unfinished is not None:
            try:
                run.finish(self._tasks)
                self._unfinished = None
            except BaseException as error:
                run.stop(error, "the caller")
        if run.errors:
            interrupts = [error for error in run.errors if not isinstance(error, Exception)]
            raise (interrupts or run.errors)[0].with_traceback(None)
        return [run.results[rank] for rank in range(self.count)]


class _Run:
    def __init__(self, work: Callable[[int], Values], count: int, communicator: Any):
        self.work, self.count, self.communicator = work, count, communicator
        self.results: dict[int, Values] = {}
        self.errors: list[BaseException] = []  # the first one is the original error
        self.given: set[int] = set()
        self.ended: SimpleQueue[None] = SimpleQueue()

    def stop(self, error: BaseException, who: str) -> None:
        self.errors.append(error)
        self.communicator.cancel(f"{who} failed: {error}")

    def one(self, rank: int) -> None:
        if rank in self.results:
            return
        values: Values = []
        try:
            if not self.errors:
                values = self.work(rank)
        except BaseException as error:
            if isinstance(error, Error):  # it counts rows of this replica's part
                error.args = (f"replica {rank} of {self.count}: {error}",)
            self.stop(error, f"replica {rank}")
        self.results[rank] = values
        self.ended.put(None)

    def finish(self, all_tasks: list[SimpleQueue[Any]]) -> None:
        """Starts the remaining work, and returns when all of it has ended."""
        for rank, tasks in enumerate(all_tasks, 1):
            if rank not in self.given:  # else an interrupt came before this was recorded: repeating it is harmless
                tasks.put((self.one, rank))
                self.given.add(rank)
        if not self.errors:
            self.one(0)  # in this thread, which receives Ctrl-C
        while not self.given <= self.results.keys():
            with suppress(Empty):
                self.ended.get(timeout=0.1)


def _carry_out(tasks: SimpleQueue[Any]) -> None:
    while True:
        task = tasks.get()
        if task is None:
            return
        do, rank = task
        do(rank)
        del task, do  # else they would keep the replicas, which keep this thread


def _end(all_tasks: list[SimpleQueue[Any]]) -> None:
    for tasks in all_tasks:
        tasks.put(None)
