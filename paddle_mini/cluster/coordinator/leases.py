# Leases: locks with an expiry and a fencing token, each held by one trainer at a time.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ...errors import shown
from ..errors import Malformed
from ..values import Holder

LONGEST = 86400.0
"""Maximal seconds of a lease: a mistaken number must not block a job forever."""
_KEPT = 100


class _Lease(NamedTuple):
    trainer: str
    life: int
    token: int
    deadline: float


class Leases:
    """The leases of a job, by right. clock: monotonic time in seconds.

    Each lease has a token, and tokens increase: actions of a former holder are recognised by their lower token. From
    the exact end of a lease on, another trainer may acquire the right. changes: counts changes by requests.
    """

    def __init__(self, clock: Callable[[], float]):
        self._clock = clock
        self._leases: dict[str, _Lease] = {}
        self._token = 0
        self.changes = 0

    @property
    def token(self) -> int:
        """The highest token so far."""
        return self._token

    def acquire(self, right: str, trainer: str, life: int, duration: float) -> int | None:
        """The token, for `duration` seconds from now; None while another trainer holds the right.

        The holder extends its lease, with the same token, to the later of both ends; also after the end, if no other
        trainer acquired it since. A later incarnation of the same trainer takes it over, with a new token. Malformed
        for an empty name and for a duration that is not above 0 and at most LONGEST.
        """
        if not trainer:
            raise Malformed("a trainer without a name requests a lease")
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
        """Whether this trainer acquired the right last, with this token."""
        held = self._leases.get(right)
        return held is not None and held[:3] == (trainer, life, token)

    def release(self, right: str, trainer: str) -> None:
        """Ends the trainer's lease: any trainer may acquire the right at once, with a new token."""
        held = self._leases.get(right)
        if held is not None and held.trainer == trainer:
            del self._leases[right]
            self.changes += 1

    def holders(self) -> dict[str, Holder]:
        """By right: the trainer that holds it now, and the remaining seconds."""
        now = self._clock()
        return {right: Holder(one.trainer, one.deadline - now) for right, one in self._leases.items() if now < one.deadline}

    def snapshot(self) -> dict[str, Any]:
        """All state as JSON values; each lease with its remaining seconds."""
        now = self._clock()
        return {
            "token": self._token,
            "leases": [[right, one.trainer, one.life, one.token, one.deadline - now] for right, one in self._leases.items()],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restores a snapshot; no lease gets shorter than it was promised."""
        now = self._clock()
        self._token = state["token"]
        self._leases = {right: _Lease(trainer, life, token, now + left) for right, trainer, life, token, left in state["leases"]}

    def _forget_old(self, now: float) -> None:
        """Removes expired leases, which would accumulate in a job that saves to a new directory every hour."""
        over = [right for right, one in self._leases.items() if now >= one.deadline]
        for right in over[: max(0, len(self._leases) - _KEPT)]:
            del self._leases[right]
