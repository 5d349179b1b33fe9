# JobFacts: whether a job has started, and how often its coordinator restarted.
from __future__ import annotations

from collections.abc import Iterable

from .tables import Facts


class JobFacts(Facts):
    """run: of the job, which is another one when it is started again. trainers: how many it starts with.

    A job has started when all its initial trainers have joined once. Those that left before count too: a trainer that waits
    for one of the others' data tasks leaves, and would otherwise keep the job from starting, while they wait for the start.

    In collective mode a trainer that has made its last step has ended, until it restarts. is_resumed: the coordinator was
    restarted in this run."""

    def __init__(self, run: str, trainers: int):
        super().__init__(started=False, run=run, restarts=0, left=[], ended=[])
        self._trainers, self.is_resumed = trainers, False

    @property
    def started(self) -> bool:
        return bool(self.facts["started"])

    @property
    def restarts(self) -> int:
        """How often the coordinator restarted in this directory."""
        return int(self.facts["restarts"])

    def resume(self, run: str) -> None:
        """After a restart."""
        self.is_resumed = self.facts["run"] == run
        if not self.is_resumed:
            self.facts["started"], self.facts["run"], self.facts["left"], self.facts["ended"] = False, run, [], []
        self.facts["restarts"] += 1

    def note_join(self, present: Iterable[int]) -> None:
        """After a trainer has joined; present: the numbers of all that are there."""
        if not self.started and len({*present, *self._left}) >= self._trainers:
            self.facts["started"] = True

    def note_leave(self, number: int) -> None:
        """After a trainer has left, and was not lost."""
        if not self.started:
            self.facts["left"] = sorted({*self._left, number})

    def note_end(self, number: int, ended: bool) -> None:
        """Whether a trainer has made its last step."""
        if ended != (number in self._ended):
            self.facts["ended"] = sorted({*self._ended, number} if ended else {*self._ended} - {number})

    @property
    def all_ended(self) -> bool:
        return len(self._ended) >= self._trainers

    @property
    def _ended(self) -> list[int]:
        return self.facts.get("ended", [])  # as for _left

    @property
    def _left(self) -> list[int]:
        return self.facts.get("left", [])  # files of an earlier version don't have it
