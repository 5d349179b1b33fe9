# Reading: the data tasks that the coordinator assigns to a trainer.
from __future__ import annotations

import numbers
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from ...errors import shown
from ..client import Client
from ..errors import ClusterError, Malformed
from ..protocol import EndTasks, GetJobStatus, GetTasks, SetData
from ..replies import Tasks
from ..values import Task, TaskAnswer, TaskId
from ..wire import HEADER_LIMIT, JSON
from .membership import Membership

_PAUSE = 0.02
"""Seconds between requests for a task, while all tasks are assigned to other trainers."""
_WORK = 1.0
"""Seconds of work that a trainer takes at a time, and for which what it has done may be unknown to the coordinator."""
_MOST = 64
"""Tasks that a trainer takes at a time."""
MOST_BYTES = HEADER_LIMIT - 4096
"""Bytes of all chunks, which are in the header of one message."""


def list_of(chunks: Any, passes: Any) -> list[Any]:
    """The arguments of batches(); Malformed for those that can't be meant."""
    if isinstance(chunks, (str, bytes, Mapping)) or not isinstance(chunks, Iterable):
        raise Malformed(f"batches() takes a list of chunks, not {shown(chunks)}: for one chunk, write [chunk]")
    if isinstance(passes, bool) or not isinstance(passes, numbers.Integral) or passes < 0:
        raise Malformed(f"batches(): passes is {shown(passes)}, it must be an integer, at least 0")
    return list(chunks)


class Reading:
    """flush(): returns when the servers have the gradients of all batches so far.

    withdraw(), in modes where trainers wait for each other: returns when this trainer's gradients are applied. The
    others would wait for a trainer that waits for one of their tasks, so it leaves the job until a task is free.

    A loader may read ahead in a thread of its own: then each of these takes its turn with the steps.
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
        self._most, self._pass = 1, 0
        self._done: list[Task] = []  # and not reported
        self._tasks: deque[Task] = deque()  # those that it has besides
        self._life = membership.life  # in which it got them
        self._loop: object = None  # the loop that reads

    def chunks(self, chunks: Sequence[Any], chunks_per_task: int, passes: int, set_pass: Callable[[int], None]) -> Iterator[Any]:
        """Each chunk goes to one trainer per pass, and to another one if that trainer was lost before it reported the
        task as done: when its next chunk was requested, and within a second. set_pass(number) is called before the
        chunks of a pass. Several short tasks are requested, and reported, at a time.

        A further call reads the passes that follow; if the loop before was left early, first the rest of its pass, which
        begins with what is not reported: it may have been read ahead only."""
        self._define(list_of(chunks, passes), chunks_per_task)
        self._loop = loop = object()
        self._tasks.extendleft(reversed(self._done))
        self._done = []
        for _ in range(passes):
            for chunk in self._of_pass(set_pass):
                yield chunk
                if self._loop is not loop:
                    raise Malformed("another loop over batches() has begun: a trainer reads in one loop at a time")
            self._pass += 1

    def _define(self, chunks: list[Any], chunks_per_task: int) -> None:
        try:
            size = len(JSON.encode(chunks))
        except (TypeError, ValueError, RecursionError) as error:
            raise Malformed(f"batches(): a chunk is not a JSON value: {error}") from None
        if size > MOST_BYTES:
            raise Malformed(
                f"batches(): {len(chunks)} chunks are {size} bytes of JSON, {MOST_BYTES} are the most: let a chunk stand for "
                "more of the data, for example by the number of a file, or by its first and last row"
            )
        self._client.request("coordinator", SetData(chunks, chunks_per_task))

    def _of_pass(self, set_pass: Callable[[int], None]) -> Iterator[Any]:
        """The chunks that this trainer reads of the present pass."""
        while True:
            if self._life != self._membership.life:  # it was lost, or left: others have its tasks
                self._tasks.clear()
            if not self._tasks:
                given = self._get(self._pass)
                if given.answer in (TaskAnswer.OVER, TaskAnswer.EARLIER):
                    return
                if given.answer is TaskAnswer.ALL_FAILED:
                    raise ClusterError(f"every task of pass {self._pass} failed: no data are left to read")
                if given.answer is not TaskAnswer.TASK:
                    self._wait()
                    continue
                self._tasks, self._life = deque(given.tasks), self._membership.life
            set_pass(self._pass)
            yield from self._of_tasks()

    def _of_tasks(self) -> Iterator[Any]:
        """The chunks of its tasks, which it reports as done."""
        begin = reported = self._clock()
        number = len(self._tasks)
        while self._tasks:
            task = self._tasks[0]
            yield from task.chunks
            self._done.append(self._tasks.popleft())
            if self._clock() - reported >= _WORK:
                self._report()
                reported = self._clock()
        self._report()
        seconds = (self._clock() - begin) / number
        self._most = max(1, min(_MOST, 2 * self._most, int(_WORK / max(seconds, 1e-9))))

    def _report(self) -> None:
        if self._done:
            with self._membership.turn:
                self._flush()  # a task that is done is not done again
            self._membership.request(EndTasks, tasks=[TaskId(one.task, one.epoch) for one in self._done])
            self._done = []

    def _get(self, number: int) -> Tasks:
        return self._membership.request(GetTasks, pass_number=number, serial=next(self._serials), most=self._most)

    def _wait(self) -> None:
        if self._withdraw is None:
            time.sleep(_PAUSE)
            return
        while True:
            with self._membership.turn:
                if not self._membership.is_lost:  # a step that was read before, in another thread, joins again
                    self._withdraw()
                    self._membership.leave()
            tasks = self._client.request("coordinator", GetJobStatus()).tasks
            if tasks["todo"] or not tasks["pending"]:
                break
            time.sleep(_PAUSE)
        with self._membership.turn:
            if self._membership.is_lost:
                self._membership.join()
