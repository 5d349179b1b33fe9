# Reading: the data tasks that the coordinator assigns to a trainer.
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from ..client import Client
from ..errors import ClusterError
from ..protocol import EndTask, GetJobStatus, GetTask, SetData
from ..replies import Task
from ..values import TaskAnswer
from .membership import Membership

_PAUSE = 0.02
"""Seconds between requests for a task, while all tasks are assigned to other trainers."""


class Reading:
    """flush(): returns when the servers have the gradients of all batches so far.

    withdraw(), in modes where trainers wait for each other: returns when this trainer's gradients are applied. The
    others would wait for a trainer that waits for one of their tasks, so it leaves the job until a task is free.
    """

    def __init__(self, client: Client, membership: Membership, flush: Callable[[], None], withdraw: Callable[[], None] | None):
        self._client, self._membership, self._serials = client, membership, count()
        self._flush, self._withdraw = flush, withdraw

    def chunks(self, chunks: Sequence[Any], chunks_per_task: int, passes: int, set_pass: Callable[[int], None]) -> Iterator[Any]:
        """Each chunk goes to one trainer per pass, and to another one if that trainer was lost before the end of the
        task. A task is done when the next chunk is requested. set_pass(number) is called before the chunks of a pass.
        """
        self._client.request("coordinator", SetData(list(chunks), chunks_per_task))
        for number in range(passes):
            while (task := self._get(number)).answer not in (TaskAnswer.OVER, TaskAnswer.EARLIER):
                if task.answer is TaskAnswer.ALL_FAILED:
                    raise ClusterError(f"every task of pass {number} failed: no data are left to read")
                if task.answer is TaskAnswer.TASK:
                    set_pass(number)
                    yield from task.chunks
                    self._flush()  # a task that is done is not done again
                    self._membership.request(EndTask, task=task.task, epoch=task.epoch)
                else:
                    self._wait()

    def _get(self, number: int) -> Task:
        return self._membership.request(GetTask, pass_number=number, serial=next(self._serials))

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
