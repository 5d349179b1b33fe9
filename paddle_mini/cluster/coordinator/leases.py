# Leases: rights that one trainer at a time has, for as long as it was given them.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ...errors import shown
from ..errors import Malformed
from ..values import Holder

LONGEST = 86400.0
"""Seconds of one lease: a mistaken number must not stop a job for good."""
_KEPT = 100


class _Lease(NamedTuple):
    trainer: str
    life: int
    token: int
    deadline: float


class Leases:
    """Who has which right. clock: the time in seconds, from any beginning.

    A lease has a token, and a later holder of a right has a higher one: what is done by a holder that was too slow is
    known by its token. At exactly the end of a lease another trainer may get the right. changes: counts what a
    request changed.
    """

    def __init__(self, clock: Callable[[], float]):
        self._clock = clock
        self._leases: dict[str, _Lease] = {}
        self._token = 0
        self.changes = 0

    @property
    def token(self) -> int:
        """The highest token that was given."""
        return self._token

    def acquire(self, right: str, trainer: str, life: int, duration: float) -> int | None:
        """The token, for `duration` seconds from now; None while another trainer has the right.

        Whoever has it and asks again has it until the later of both ends, with the same token; also after its end,
        if nobody else had it since. A later life of the same trainer takes it over, with a new token. Malformed for an
        empty name and for a duration that is not above 0 and at most LONGEST.
        """
        if not trainer:
            raise Malformed("a trainer without a name asks for a right")
        if not (math.isfinite(duration) and 0 < duration <= LONGEST):
            raise Malformed(f"a lease of {shown(duration)} seconds; it must be above 0 and at most {LONGEST:g}")
        now, held = self._clock(), self._leases.get(right)
        token, end = self._token + 1, now + duration
        if held is not None and (held.trainer, held.life) == (trainer, life):
            token, end = held.token, max(held.deadline, end)
        elif held is not None and now < held.deadline and (held.trainer != trainer or held.life > life):
            return None
        self._forget_old(now)
        self._leases[right] = _Lease(trainer, life, token, end)
        self._token = max(self._token, token)
        self.changes += 1
        return token

    def holds(self, right: str, trainer: str, life: int, token: int) -> bool:
        """Whether this trainer was the last to get the right, with this token."""
        held = self._leases.get(right)
        return held is not None and held[:3] == (trainer, life, token)

    def release(self, right: str, trainer: str) -> None:
        """The trainer is done with it, or not there any more: anyone may have the right at once, with a new token."""
        held = self._leases.get(right)
        if held is not None and held.trainer == trainer:
            del self._leases[right]
            self.changes += 1

    def holders(self) -> dict[str, Holder]:
        """By right: the trainer that has it now, and the seconds that it has left."""
        now = self._clock()
        return {right: Holder(one.trainer, one.deadline - now) for right, one in self._leases.items() if now < one.deadline}

    def snapshot(self) -> dict[str, Any]:
        """All of it as JSON values; of each lease the seconds that are left."""
        now = self._clock()
        return {
            "token": self._token,
            "leases": [[right, one.trainer, one.life, one.token, one.deadline - now] for right, one in self._leases.items()],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from a snapshot; nobody has a right for a shorter time than it was told."""
        now = self._clock()
        self._token = state["token"]
        self._leases = {right: _Lease(trainer, life, token, now + left) for right, trainer, life, token, left in state["leases"]}

    def _forget_old(self, now: float) -> None:
        """A job that saves every hour to a new directory would else keep all of them."""
        over = [right for right, one in self._leases.items() if now >= one.deadline]
        for right in over[: max(0, len(self._leases) - _KEPT)]:
            del self._leases[right]
