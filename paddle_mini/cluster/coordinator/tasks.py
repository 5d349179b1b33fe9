# Data tasks: assigns the chunks of a data set to trainers, each once per pass, and again when a trainer fails.
from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ...errors import shown
from ..errors import AlreadyInitialised, Malformed, NotInitialised
from ..process_log import ProcessLogger
from ..replies import Tasks as Given
from ..values import Task, TaskAnswer, TaskId
from .tables import Part, Table

Serial = tuple[int, int]
_log = ProcessLogger(__name__)


class _Pending(NamedTuple):
    trainer: str
    epoch: int
    serial: Serial


class Tasks(Part):
    """The tasks of one data set and their states in the current pass: todo, pending, done or failed.

    clock: monotonic time in seconds. timeout: seconds that a trainer has for a task; from its exact end on the task is
    another trainer's; after a restart each pending task has it again. failure_limit: after so many failures or timeouts
    a task is left out of the rest of the pass; the next pass retries it. Each assignment has an epoch: results of an
    earlier one are ignored, as the task may have been reassigned. A request takes the time of its own tasks, not of all.
    """

    def __init__(self, clock: Callable[[], float], timeout: float = 1200.0, failure_limit: int = 3):
        self._clock, self._timeout, self._failure_limit = clock, timeout, failure_limit
        self._data: Table[str, Any] = Table()  # chunks, chunks_per_task, pass, and the end of the queue
        self._todo: Table[int, int] = Table()  # a queue: tasks by their places in it
        self._pending: Table[int, _Pending] = Table(lambda value: _Pending(value[0], value[1], tuple(value[2])))
        self._ended: Table[int, bool] = Table()  # whether it failed
        self._epochs: Table[int, int] = Table()
        self._failures: Table[int, int] = Table()  # without those that have none
        self._asked: Table[str, Serial] = Table(tuple)  # the latest request of each trainer that got tasks
        self._refused: dict[str, Serial] = {}  # and the latest one that got none
        self.tables = {
            "data": self._data,
            "todo": self._todo,
            "pending": self._pending,
            "ended": self._ended,
            "epochs": self._epochs,
            "failures": self._failures,
            "asked": self._asked,
        }
        self._data.update({"chunks": [], "chunks_per_task": 0, "pass": 0, "end": 0})
        self._deadlines: dict[int, tuple[int, float]] = {}  # the epoch, and the time
        self.derive()

    def derive(self) -> None:
        self._tasks = _tasks_of(self._data["chunks"], self._data["chunks_per_task"])
        self._begin = min(self._todo, default=self._data["end"])
        end = self._clock() + self._timeout
        known = {number: self._deadlines.get(number, (0, end)) for number in self._pending}
        self._deadlines = {
            number: known[number] if known[number][0] == one.epoch else (one.epoch, end) for number, one in self._pending.items()
        }
        self._next_expiry = -math.inf
        self._of: defaultdict[str, set[int]] = defaultdict(set)
        for number, one in self._pending.items():
            self._of[one.trainer].add(number)
        self._failed = sum(self._ended.values())

    def set_data(self, chunks: list[Any], chunks_per_task: int = 10) -> None:
        """chunks: JSON values that tell a trainer what to read, in order. The first call defines the data set; the same
        again has no effect. AlreadyInitialised for another one; Malformed."""
        if not isinstance(chunks, list) or not chunks:
            raise Malformed("a data set is a list of at least one chunk")
        if isinstance(chunks_per_task, bool) or not isinstance(chunks_per_task, int) or chunks_per_task < 1:
            raise Malformed(f"chunks_per_task is {shown(chunks_per_task)}, it must be an integer, at least 1")
        try:
            copy = json.loads(json.dumps(chunks, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise Malformed(f"a chunk is not a JSON value: {error}") from None
        known = self._data["chunks"]
        if known:
            if (copy, chunks_per_task) != (known, self._data["chunks_per_task"]):
                raise AlreadyInitialised(
                    f"this job reads another data set: {len(known)} chunks, "
                    f"{self._data['chunks_per_task']} a task, the first one {shown(str(known[0]))}"
                )
            return
        self._data.update({"chunks": copy, "chunks_per_task": chunks_per_task})
        self._enqueue(range(len(_tasks_of(copy, chunks_per_task))))
        self.derive()

    def get(self, trainer: str, pass_number: int, serial: Serial | None = None, most: int = 1) -> Given:
        """At most so many tasks for a trainer that reads pass pass_number, from 0. The first request for the next pass
        begins it, if the current one is over. NotInitialised: no data set yet.

        serial: incarnation and number of the request, which increase. A repeated request gets the same tasks, as long as
        the trainer has them, and else NONE_NOW: the trainer, if it still waits, retries. The trainer works on them in
        this order, so the timeout of each begins with that of the previous one."""
        if not self._tasks:
            raise NotInitialised("no data set is defined yet")
        self._expire()
        if serial is not None and serial <= max(self._asked.get(trainer, (-1, -1)), self._refused.get(trainer, (-1, -1))):
            same = [number for number, one in self._pending.items() if (one.trainer, one.serial) == (trainer, serial)]
            return self._given(same)
        answer = self._state(pass_number)
        if serial is not None and answer is TaskAnswer.TASK:
            self._asked[trainer] = serial
        elif serial is not None:
            self._refused[trainer] = serial
        if answer is not TaskAnswer.TASK:
            return Given(answer)
        if pass_number > self._data["pass"]:
            self._begin_pass()
        given = (0, 0) if serial is None else serial
        return self._given([self._assign(trainer, given, place) for place in range(min(most, len(self._todo)))])

    def _state(self, pass_number: int) -> TaskAnswer:
        """TASK: there are tasks of this pass."""
        if pass_number < self._data["pass"]:
            return TaskAnswer.EARLIER
        if self._failed == len(self._tasks):
            return TaskAnswer.ALL_FAILED
        over = not self._todo and not self._pending
        if pass_number > self._data["pass"]:
            return TaskAnswer.TASK if over and pass_number == self._data["pass"] + 1 else TaskAnswer.LATER
        return TaskAnswer.OVER if over else TaskAnswer.TASK if self._todo else TaskAnswer.NONE_NOW

    def _assign(self, trainer: str, serial: Serial, place: int) -> int:
        """The next task of the queue; place: in a request for several."""
        while self._begin not in self._todo:
            self._begin += 1
        number = self._todo.pop(self._begin)
        epoch = self._epochs[number] = self._epochs.get(number, 0) + 1
        self._pending[number] = _Pending(trainer, epoch, serial)
        deadline = self._clock() + (place + 1) * self._timeout
        self._deadlines[number] = epoch, deadline
        self._next_expiry = min(self._next_expiry, deadline)
        self._of[trainer].add(number)
        return number

    def _given(self, numbers: Iterable[int]) -> Given:
        tasks = [Task(number, self._pending[number].epoch, self._tasks[number]) for number in numbers]
        return Given(TaskAnswer.TASK if tasks else TaskAnswer.NONE_NOW, tasks)

    @property
    def todo(self) -> int:
        """The number of tasks that no trainer has."""
        return len(self._todo)

    def end(self, task: TaskId, failed: bool) -> bool:
        """Marks a task as done or failed. False: too late, the task was reassigned; nothing changes."""
        self._expire()
        pending = self._pending.get(task.task)
        if pending is None or pending.epoch != task.epoch:
            return False
        if failed:
            self._requeue(task.task, failed=True)
        else:
            self._take_back(task.task)
            self._ended[task.task] = False
        return True

    def release(self, trainer: str, failed: bool) -> None:
        """Requeues the tasks of a trainer that left or was lost. failed: it was lost, possibly because of the data, so
        that the task it was working on, the first of those that it has, counts a failure."""
        for place, number in enumerate(sorted(self._of.get(trainer, ()), key=lambda number: self._deadlines[number][1])):
            self._requeue(number, failed and place == 0)

    def counts(self) -> dict[str, int]:
        self._expire()
        return {
            "pass": self._data["pass"],
            "todo": len(self._todo),
            "pending": len(self._pending),
            "done": len(self._ended) - self._failed,
            "failed": self._failed,
        }

    def _expire(self) -> None:
        now = self._clock()
        if now < self._next_expiry:
            return
        for number in [number for number, (_, deadline) in self._deadlines.items() if now >= deadline]:
            trainer = self._pending[number].trainer
            _log.warning("trainer %s has had data task %d for longer than task_timeout, %g s", trainer, number, self._timeout)
            self._requeue(number, failed=True)
        self._next_expiry = min((deadline for _, deadline in self._deadlines.values()), default=math.inf)

    def _take_back(self, number: int) -> None:
        self._of[self._pending.pop(number).trainer].discard(number)
        del self._deadlines[number]

    def _requeue(self, number: int, failed: bool) -> None:
        self._take_back(number)
        if failed:
            self._failures[number] = self._failures.get(number, 0) + 1
        if self._failures.get(number, 0) >= self._failure_limit:
            self._ended[number] = True
            self._failed += 1
            _log.error(
                "data task %d, %s, failed or was lost %d times: it is left out of pass %d",
                number,
                shown(self._tasks[number]),
                self._failure_limit,
                self._data["pass"],
            )
        else:
            self._enqueue([number])  # at the end: a failing task must not delay the others

    def _enqueue(self, numbers: Iterable[int]) -> None:
        place = self._data["end"]
        for number in numbers:
            self._todo[place] = number
            place += 1
        self._data["end"] = place

    def _begin_pass(self) -> None:
        self._data["pass"] += 1
        again = sorted(self._ended)
        self._ended.clear()
        self._failures.clear()
        self._failed = 0
        self._enqueue(again)


def _tasks_of(chunks: list[Any], per_task: int) -> list[list[Any]]:
    return [chunks[begin : begin + per_task] for begin in range(0, len(chunks), per_task or 1)]
