# DeduplicationLog: the pushes that a server has applied or dropped, and the trainers whose pushes it accepts.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import ERRORS, Gone
from ..values import MemberId
from ..wire import field

APPLIED = "applied"


class Sender(NamedTuple):
    """The trainer and step of a push. The incarnation increases when a trainer restarts; steps of an incarnation
    increase, from any number."""

    trainer: int
    incarnation: int
    step: int


class DeduplicationLog:
    """sent: valid pushes, each counted once despite repetitions; each is applied, dropped, or waits for others."""

    def __init__(self, trainers: int):
        self.members: dict[int, int | None] = dict.fromkeys(range(trainers))  # incarnation; None until it is known
        self.membership = 0
        self.sent = self.applied = self.dropped = self.repeated = 0
        self._last: dict[int, tuple[int, int, str]] = {}  # by trainer: incarnation, step and result

    def set_members(self, membership: int, trainers: Sequence[MemberId]) -> bool:
        """Replaces the members; False if this membership is not newer."""
        if membership <= self.membership:
            return False
        self.membership, self.members = membership, {one.number: one.incarnation for one in trainers}
        return True

    def admits(self, sender: Sender, membership: int) -> bool:
        """Whether the sender is a member; False if it has joined in a membership that is not known here yet. Gone if it
        is not a member, or has restarted since."""
        if membership > self.membership:
            return False
        if sender.trainer not in self.members:
            raise Gone(f"trainer {sender.trainer} is not a member of the job: it has to join again")
        known = self.members[sender.trainer]
        if known is None:
            known = max(sender.incarnation, self._last.get(sender.trainer, (0, 0, ""))[0])
        if sender.incarnation != known:
            raise Gone(f"trainer {sender.trainer} is at incarnation {known}, this is {sender.incarnation}")
        return True

    def is_repeat(self, sender: Sender) -> bool:
        """Whether this push, or a later one of the sender, was settled before; raises the same error if it was
        dropped."""
        incarnation, step, became = self._last.get(sender.trainer, (-1, -1, APPLIED))
        if incarnation != sender.incarnation or step < sender.step:
            return False
        self.repeated += 1
        if step == sender.step and became != APPLIED:
            raise ERRORS[became](f"step {step} of trainer {sender.trainer} was dropped before")
        return True

    def settle(self, sender: Sender, became: str = APPLIED) -> None:
        """Records that a push was applied, or dropped with an error of this kind."""
        self._last[sender.trainer] = (sender.incarnation, sender.step, became)
        self.applied += became == APPLIED
        self.dropped += became != APPLIED

    def counts(self) -> dict[str, int]:
        return {"sent": self.sent, "applied": self.applied, "dropped": self.dropped, "repeated": self.repeated}

    def state(self, waiting: int) -> dict[str, Any]:
        """As JSON, without the members, which a restarted server gets from the coordinator. waiting: pushes that are
        not in the checkpoint; their senders repeat them."""
        last = [[trainer, *last] for trainer, last in self._last.items()]
        return {"last": last, **self.counts(), "sent": self.sent - waiting}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restores the result of state()."""
        self._last = {trainer: tuple(last) for trainer, *last in field(state, "last", list)}
        self.sent, self.applied = field(state, "sent", int), field(state, "applied", int)
        self.dropped, self.repeated = field(state, "dropped", int), field(state, "repeated", int)

    def has_left(self, sender: Sender) -> bool:
        """Whether the sender is no longer a member, or has restarted."""
        known = self.members.get(sender.trainer, -1)
        return known is not None and known != sender.incarnation
