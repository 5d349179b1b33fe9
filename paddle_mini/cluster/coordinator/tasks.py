# Data tasks: assigns the chunks of a data set to trainers, each once per pass, and again when a trainer fails.
from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from ...errors import shown
from ..errors import AlreadyInitialised, Malformed, NotInitialised
from ..replies import Task
from ..values import TaskAnswer

Serial = tuple[int, int]


class _Pending(NamedTuple):
    trainer: str
    epoch: int
    deadline: float
    serial: Serial


class Tasks:
    """The tasks of one data set and their states in the current pass: todo, pending, done or failed.

    clock: monotonic time in seconds. timeout: seconds that a trainer has for a task; from its exact end on the task is
    another trainer's. failure_limit: after so many failures or timeouts a task is left out of the rest of the pass; the
    next pass retries it. Each assignment has an epoch: results of an earlier one are ignored, as the task may have been
    reassigned. changes: counts changes by requests; timeouts need not survive a restart.
    """

    def __init__(self, clock: Callable[[], float], timeout: float = 1200.0, failure_limit: int = 3):
        self._clock, self._timeout, self._failure_limit = clock, timeout, failure_limit
        self.changes = 0
        self._chunks: tuple[Any, ...] = ()
        self._per_task = 0
        self._begin_with(())

    def _begin_with(self, tasks: tuple[list[Any], ...]) -> None:
        self._tasks = tasks
        self._pass = 0
        self._todo: deque[int] = deque(range(len(tasks)))
        self._pending: dict[int, _Pending] = {}
        self._asked: dict[str, Serial] = {}  # the latest one of each trainer
        self._done: list[int] = []
        self._failed: list[int] = []
        self._epochs = [0] * len(tasks)
        self._failures = [0] * len(tasks)

    def set_data(self, chunks: list[Any], chunks_per_task: int = 10) -> None:
        """chunks: JSON values that tell a trainer what to read, in order. The first call defines the data set; the same
        again has no effect. AlreadyInitialised for another one; Malformed."""
        if not isinstance(chunks, list) or not chunks:
            raise Malformed("a data set is a list of at least one chunk")
        if isinstance(chunks_per_task, bool) or not isinstance(chunks_per_task, int) or chunks_per_task < 1:
            raise Malformed(f"chunks_per_task is {shown(chunks_per_task)}, it must be an integer, at least 1")
        try:
            copy = tuple(json.loads(json.dumps(chunks, allow_nan=False)))
        except (TypeError, ValueError) as error:
            raise Malformed(f"a chunk is not a JSON value: {error}") from None
        if self._tasks:
            if (copy, chunks_per_task) != (self._chunks, self._per_task):
                raise AlreadyInitialised(
                    f"this job reads another data set: {len(self._chunks)} chunks, "
                    f"{self._per_task} a task, the first one {shown(str(self._chunks[0]))}"
                )
            return
        self._chunks, self._per_task = copy, chunks_per_task
        self._begin_with(_tasks_of(copy, chunks_per_task))
        self.changes += 1

    def get(self, trainer: str, pass_number: int, serial: Serial | None = None) -> Task:
        """A task for a trainer that reads pass pass_number, from 0. The first request for the next pass begins it, if
        the current one is over. NotInitialised: no data set yet.

        serial: incarnation and number of the request, which increase. A repeated request gets the same task, as long as
        the trainer has it, and else NONE_NOW: the trainer, if it still waits, retries."""
        if not self._tasks:
            raise NotInitialised("no data set is defined yet")
        self._expire()
        if serial is not None and serial <= self._asked.get(trainer, (-1, -1)):
            same = [number for number, one in self._pending.items() if (one.trainer, one.serial) == (trainer, serial)]
            return self._task(same[0]) if same else Task(TaskAnswer.NONE_NOW)
        if serial is not None:
            self._asked[trainer] = serial
        if pass_number < self._pass:
            return Task(TaskAnswer.EARLIER)
        if len(self._failed) == len(self._tasks):
            return Task(TaskAnswer.ALL_FAILED)
        over = not self._todo and not self._pending
        if pass_number == self._pass + 1 and over:
            self._begin_pass()
        elif pass_number > self._pass:
            return Task(TaskAnswer.LATER)
        elif over:
            return Task(TaskAnswer.OVER)
        if not self._todo:
            return Task(TaskAnswer.NONE_NOW)
        number = self._todo.popleft()
        self._epochs[number] += 1
        given = (0, 0) if serial is None else serial
        self._pending[number] = _Pending(trainer, self._epochs[number], self._clock() + self._timeout, given)
        self.changes += 1
        return self._task(number)

    def _task(self, number: int) -> Task:
        return Task(TaskAnswer.TASK, number, self._epochs[number], self._tasks[number])

    def finish(self, task: int, epoch: int) -> bool:
        """Marks a task as done. False: too late, the task was reassigned; nothing changes."""
        if not self._is_pending(task, epoch):
            return False
        del self._pending[task]
        self._done.append(task)
        self.changes += 1
        return True

    def fail(self, task: int, epoch: int) -> bool:
        """Marks a task as failed. False: too late, as for finish."""
        if not self._is_pending(task, epoch):
            return False
        self._requeue(task, failed=True)
        self.changes += 1
        return True

    def release(self, trainer: str, failed: bool) -> None:
        """Requeues the tasks of a trainer that left or was lost. failed: it was lost, possibly because of the data, so
        that each task counts a failure."""
        for number in [number for number, pending in self._pending.items() if pending.trainer == trainer]:
            self._requeue(number, failed)
            self.changes += 1

    def counts(self) -> dict[str, int]:
        self._expire()
        return {
            "pass": self._pass,
            "todo": len(self._todo),
            "pending": len(self._pending),
            "done": len(self._done),
            "failed": len(self._failed),
        }

    def snapshot(self) -> dict[str, Any]:
        """A copy of all state as JSON values; deadlines as remaining seconds."""
        now = self._clock()
        pending = [
            [number, one.trainer, one.epoch, one.deadline - now, list(one.serial)] for number, one in self._pending.items()
        ]
        return {
            "chunks": list(self._chunks),
            "chunks_per_task": self._per_task,
            "pass": self._pass,
            "todo": list(self._todo),
            "pending": pending,
            "done": list(self._done),
            "failed": list(self._failed),
            "asked": [[trainer, *serial] for trainer, serial in self._asked.items()],
            "epochs": list(self._epochs),
            "failures": list(self._failures),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restores a snapshot. A pending task keeps the time that remained then, so no trainer gets less than it was
        promised, however long the restart took."""
        now = self._clock()
        self._chunks, self._per_task = tuple(state["chunks"]), state["chunks_per_task"]
        self._begin_with(_tasks_of(self._chunks, self._per_task))
        self._pass, self._todo = state["pass"], deque(state["todo"])
        self._pending = {
            number: _Pending(trainer, epoch, now + left, (life, serial))
            for number, trainer, epoch, left, (life, serial) in state["pending"]
        }
        self._asked = {trainer: (life, serial) for trainer, life, serial in state["asked"]}
        self._done, self._failed = list(state["done"]), list(state["failed"])
        self._epochs, self._failures = list(state["epochs"]), list(state["failures"])

    def _is_pending(self, task: int, epoch: int) -> bool:
        self._expire()
        return task in self._pending and self._pending[task].epoch == epoch

    def _expire(self) -> None:
        now = self._clock()
        for number in [number for number, pending in self._pending.items() if now >= pending.deadline]:
            self._requeue(number, failed=True)

    def _requeue(self, number: int, failed: bool) -> None:
        del self._pending[number]
        self._failures[number] += failed
        if self._failures[number] >= self._failure_limit:
            self._failed.append(number)
        else:
            self._todo.append(number)  # at the end: a failing task must not delay the others

    def _begin_pass(self) -> None:
        self._pass += 1
        self._todo = deque(sorted(self._done + self._failed))
        self._done, self._failed = [], []
        self._failures = [0] * len(self._tasks)


def _tasks_of(chunks: tuple[Any, ...], per_task: int) -> tuple[list[Any], ...]:
    return tuple(list(chunks[begin : begin + per_task]) for begin in range(0, len(chunks), per_task or 1))
