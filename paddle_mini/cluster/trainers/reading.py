# Reading: the data tasks that the coordinator assigns to a trainer.
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from ..client import Client
from ..errors import ClusterError
from ..protocol import EndTasks, GetJobStatus, GetTasks, SetData
from ..replies import Tasks
from ..values import Task, TaskAnswer, TaskId
from .membership import Membership

_PAUSE = 0.02
"""Seconds between requests for a task, while all tasks are assigned to other trainers."""
_WORK = 1.0
"""Seconds of work that a trainer takes at a time, and for which what it has done may be unknown to the coordinator."""
_MOST = 64
"""Tasks that a trainer takes at a time."""


class Reading:
    """flush(): returns when the servers have the gradients of all batches so far.

    withdraw(), in modes where trainers wait for each other: returns when this trainer's gradients are applied. The
    others would wait for a trainer that waits for one of their tasks, so it leaves the job until a task is free.
    """

    def __init__(
        self,
        client: Client,
        membership: Membership,
        flush: Callable[[], None],
        withdraw: Callable[[], None] | None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._client, self._membership, self._serials = client, membership, count()
        self._flush, self._withdraw, self._clock = flush, withdraw, clock
        self._most, self._done = 1, list[TaskId]()

    def chunks(self, chunks: Sequence[Any], chunks_per_task: int, passes: int, set_pass: Callable[[int], None]) -> Iterator[Any]:
        """Each chunk goes to one trainer per pass, and to another one if that trainer was lost before it reported the
        task as done: when its next chunk was requested, and within a second. set_pass(number) is called before the
        chunks of a pass. Several short tasks are requested, and reported, at a time."""
        self._client.request("coordinator", SetData(list(chunks), chunks_per_task))
        for number in range(passes):
            while (given := self._get(number)).answer not in (TaskAnswer.OVER, TaskAnswer.EARLIER):
                if given.answer is TaskAnswer.ALL_FAILED:
                    raise ClusterError(f"every task of pass {number} failed: no data are left to read")
                if given.answer is TaskAnswer.TASK:
                    set_pass(number)
                    yield from self._of(given.tasks)
                else:
                    self._wait()

    def _of(self, tasks: Sequence[Task]) -> Iterator[Any]:
        """The chunks of some tasks, which it reports as done."""
        begin = reported = self._clock()
        for task in tasks:
            yield from task.chunks
            self._done.append(TaskId(task.task, task.epoch))
            if self._clock() - reported >= _WORK:
                self._report()
                reported = self._clock()
        self._report()
        seconds = (self._clock() - begin) / len(tasks)
        self._most = max(1, min(_MOST, 2 * self._most, int(_WORK / max(seconds, 1e-9))))

    def _report(self) -> None:
        if self._done:
            self._flush()  # a task that is done is not done again
            self._membership.request(EndTasks, tasks=self._done)
            self._done = []

    def _get(self, number: int) -> Tasks:
        return self._membership.request(GetTasks, pass_number=number, serial=next(self._serials), most=self._most)

    def _wait(self) -> None:
        if self._withdraw is None:
            time.sleep(_PAUSE)
            return
        self._withdraw()
        self._membership.leave()
        while True:
            tasks = self._client.request("coordinator", GetJobStatus()).tasks
            if tasks["todo"] or not tasks["pending"]:
                break
            time.sleep(_PAUSE)
        self._membership.join()
