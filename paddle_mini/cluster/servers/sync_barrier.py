# SyncBarrier: in sync mode, holds the gradients of a step until all members have pushed theirs.
from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .deduplication_log import Sender
from .parameter_shard import ShardUpdate


class WaitingPush(NamedTuple):
    """A push that waits. pass_number: the pass over the data in which it was computed."""

    sender: Sender
    updates: list[ShardUpdate]
    pass_number: int


class SyncBarrier:
    """Holds at most one push of each trainer.

    A trainer pushes a step after it has pulled the result of the previous one, so a push of a later step also shows
    that its sender no longer needs earlier ones: this happens when a server restarted from a checkpoint and lost them.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, WaitingPush] = {}

    def __len__(self) -> int:
        """The number of pushes that wait."""
        return len(self._waiting)

    def of(self, trainer: int) -> WaitingPush | None:
        return self._waiting.get(trainer)

    def add(self, push: WaitingPush) -> None:
        self._waiting[push.sender.trainer] = push

    def remove(self, trainer: int) -> WaitingPush:
        return self._waiting.pop(trainer)

    def pushes(self) -> list[WaitingPush]:
        return list(self._waiting.values())

    def complete(self, members: Iterable[int]) -> list[WaitingPush]:
        """Removes and returns the pushes of the earliest step, in the order of trainers, if every member has pushed
        this step or a later one; else an empty list."""
        if not self._waiting or not all(member in self._waiting for member in members):
            return []
        step = min(push.sender.step for push in self._waiting.values())
        those = sorted(trainer for trainer, push in self._waiting.items() if push.sender.step == step)
        return [self._waiting.pop(trainer) for trainer in those]
