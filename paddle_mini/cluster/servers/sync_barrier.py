# Sync mode at one server: gradients of a step wait here until all members have pushed theirs.
from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .ledger import Sender
from .parameter_shard import ShardUpdate


class WaitingPush(NamedTuple):
    """Who pushes what. pass_number: the pass over the data that it was made in."""

    sender: Sender
    updates: list[ShardUpdate]
    pass_number: int


class SyncBarrier:
    """At most one push of each trainer waits.

    A trainer pushes a step after it has pulled the result of the one before, so a push of a later step says, too, that
    its sender needs nothing of earlier ones: that happens where a server that went back to a checkpoint has lost them.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, WaitingPush] = {}

    def __len__(self) -> int:
        """How many gradients wait."""
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
        """The pushes of the earliest step, in the order of trainers, when every member has pushed that step or a later
        one; they are taken out."""
        if not self._waiting or not all(member in self._waiting for member in members):
            return []
        step = min(push.sender.step for push in self._waiting.values())
        those = sorted(trainer for trainer, push in self._waiting.items() if push.sender.step == step)
        return [self._waiting.pop(trainer) for trainer in those]
