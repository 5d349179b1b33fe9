# Data tasks: who reads which part of the data, each part once a pass, and what happens where one does not finish.
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
    """The parts of one data set and where they are in the current pass: todo, pending, done or failed.

    clock: the time in seconds, from any beginning. timeout: seconds that a trainer has for a task; at exactly its end
    the task is another's. failure_limit: so many failures, timeouts too, and a task is left out of the rest of the
    pass; the next pass tries it again. Each handing out has an epoch: what is said about an earlier one is ignored, as
    the task may be with another trainer by then. changes: counts what a request changed; time alone changes nothing
    that a restart would have to know.
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
        self._asked: dict[str, Serial] = {}  # the last one of each trainer
        self._done: list[int] = []
        self._failed: list[int] = []
        self._epochs = [0] * len(tasks)
        self._failures = [0] * len(tasks)

    def set_data(self, chunks: list[Any], chunks_per_task: int = 10) -> None:
        """Chunks: what trainers are told to read, any JSON values, in order. The first to call says what the data
        are; the same again changes nothing. AlreadyInitialised for others; Malformed."""
        if not isinstance(chunks, list) or not chunks:
            raise Malformed("a data set is a list of at least one chunk")
        if isinstance(chunks_per_task, bool) or not isinstance(chunks_per_task, int) or chunks_per_task < 1:
            raise Malformed(f"chunks_per_task is {shown(chunks_per_task)}, it must be a whole number, at least 1")
        try:
            copy = tuple(json.loads(json.dumps(chunks, allow_nan=False)))
        except (TypeError, ValueError) as error:
            raise Malformed(f"a chunk is no JSON value: {error}") from None
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
        """For a trainer that reads pass pass_number, from 0. Whoever asks first for the pass after one that is over
        begins it. NotInitialised: no data yet.

        ask: life and number of the request, which rise. One that comes twice gets the task that it got, as long as the
        trainer has it, and else NONE_NOW: whoever waits for that asks again, and perhaps nobody does."""
        if not self._tasks:
            raise NotInitialised("there is no data set yet")
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
        """A task was trained on. False: too late, the task was taken back before; nothing changed."""
        if not self._is_pending(task, epoch):
            return False
        del self._pending[task]
        self._done.append(task)
        self.changes += 1
        return True

    def fail(self, task: int, epoch: int) -> bool:
        """A task could not be read or trained on. False: too late, as of finish."""
        if not self._is_pending(task, epoch):
            return False
        self._requeue(task, failed=True)
        self.changes += 1
        return True

    def release(self, trainer: str, failed: bool) -> None:
        """The trainer is not there any more: its tasks are others'. failed: it was lost, perhaps by what it read, so
        that this counts as a failure of each."""
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
        """All of it as JSON values, which share nothing with this; of deadlines the seconds that are left."""
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
        """Goes on from a snapshot. A task that was pending has the time that was left then: no trainer gets less than
        it was promised, however long the way here took."""
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
            self._todo.append(number)  # behind the others: a bad task holds nobody up

    def _begin_pass(self) -> None:
        self._pass += 1
        self._todo = deque(sorted(self._done + self._failed))
        self._done, self._failed = [], []
        self._failures = [0] * len(self._tasks)


def _tasks_of(chunks: tuple[Any, ...], per_task: int) -> tuple[list[Any], ...]:
    return tuple(list(chunks[begin : begin + per_task]) for begin in range(0, len(chunks), per_task or 1))
