# Which trainers a server listens to, and which of their pushes it has had: each counts once.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import ERRORS, Gone
from ..values import MemberId
from ..wire import field

APPLIED = "applied"


class Sender(NamedTuple):
    """Who pushes, and which of its pushes this is. The incarnation rises when a trainer is started again; its steps
    rise by themselves, and begin anywhere."""

    trainer: int
    incarnation: int
    step: int


class Ledger:
    """sent: pushes that fit, each once, however often they came; each is applied, or dropped, or waits for others."""

    def __init__(self, trainers: int):
        self.members: dict[int, int | None] = dict.fromkeys(range(trainers))  # incarnation; None until it is known
        self.membership = 0
        self.sent = self.applied = self.dropped = self.repeated = 0
        self._last: dict[int, tuple[int, int, str]] = {}  # of each trainer: incarnation, step, and what became of it

    def set_members(self, membership: int, trainers: Sequence[MemberId]) -> bool:
        """From now on the members are these; False for a membership that is no newer."""
        if membership <= self.membership:
            return False
        self.membership, self.members = membership, {one.number: one.incarnation for one in trainers}
        return True

    def admits(self, sender: Sender, membership: int) -> bool:
        """Whether the sender is a member; False when it has joined by a membership that is not known here yet. Gone
        when it is none, or was started again since."""
        if membership > self.membership:
            return False
        if sender.trainer not in self.members:
            raise Gone(f"trainer {sender.trainer} is no member of the job: it has to join again")
        known = self.members[sender.trainer]
        if known is None:
            known = max(sender.incarnation, self._last.get(sender.trainer, (0, 0, ""))[0])
        if sender.incarnation != known:
            raise Gone(f"trainer {sender.trainer} is at incarnation {known}, this is {sender.incarnation}")
        return True

    def is_repeat(self, sender: Sender) -> bool:
        """Whether this push, or a later one of the sender, was settled before; if it was dropped, the error again."""
        incarnation, step, became = self._last.get(sender.trainer, (-1, -1, APPLIED))
        if incarnation != sender.incarnation or step < sender.step:
            return False
        self.repeated += 1
        if step == sender.step and became != APPLIED:
            raise ERRORS[became](f"step {step} of trainer {sender.trainer} was dropped before")
        return True

    def settle(self, sender: Sender, became: str = APPLIED) -> None:
        """A push has been applied, or was dropped with an error of a kind."""
        self._last[sender.trainer] = (sender.incarnation, sender.step, became)
        self.applied += became == APPLIED
        self.dropped += became != APPLIED

    def counts(self) -> dict[str, int]:
        return {"sent": self.sent, "applied": self.applied, "dropped": self.dropped, "repeated": self.repeated}

    def state(self, waiting: int) -> dict[str, Any]:
        """As JSON, without the members: whoever knows them tells a server that was started again. waiting: pushes that
        were sent and are in no checkpoint, as their senders send them again."""
        last = [[trainer, *last] for trainer, last in self._last.items()]
        return {"last": last, **self.counts(), "sent": self.sent - waiting}

    def restore(self, state: Mapping[str, Any]) -> None:
        """What state() said."""
        self._last = {trainer: tuple(last) for trainer, *last in field(state, "last", list)}
        self.sent, self.applied = field(state, "sent", int), field(state, "applied", int)
        self.dropped, self.repeated = field(state, "dropped", int), field(state, "repeated", int)

    def has_left(self, sender: Sender) -> bool:
        """Whether the sender is no member any more, or was started again."""
        known = self.members.get(sender.trainer, -1)
        return known is not None and known != sender.incarnation
