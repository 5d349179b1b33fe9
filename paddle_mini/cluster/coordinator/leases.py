# Leases: locks with an expiry and a fencing token, each held by one trainer at a time.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ...errors import shown
from ..errors import Malformed
from ..values import Holder
from .tables import Part, Table

LONGEST = 86400.0
"""Maximal seconds of a lease: a mistaken number must not block a job forever."""
_KEPT = 100


class _Lease(NamedTuple):
    trainer: str
    life: int
    token: int
    duration: float


class _End(NamedTuple):
    """Times: the one that was promised to the holder, and one before which it does not end in any case."""

    promised: float
    least: float

    @property
    def latest(self) -> float:
        return max(self.promised, self.least)


class Leases(Part):
    """The leases of a job, by right. clock: monotonic time in seconds.

    Each lease has a token, and tokens increase: actions of a former holder are recognised by their lower token. From
    the exact end of a lease on, another trainer may acquire the right. That it was extended is not durable: after a
    restart each lease has its whole duration again.
    """

    def __init__(self, clock: Callable[[], float]):
        self._clock = clock
        self._leases: Table[str, _Lease] = Table(lambda value: _Lease(*value))
        self._last: Table[str, int] = Table()
        self._ends: dict[str, _End] = {}
        self._last["token"] = 0
        self.tables = {"held": self._leases, "last": self._last}

    def derive(self) -> None:
        now = self._clock()
        self._ends = {right: self._ends.get(right, _End(now + one.duration, now)) for right, one in self._leases.items()}

    @property
    def token(self) -> int:
        """The highest token so far."""
        return self._last["token"]

    def acquire(self, right: str, trainer: str, life: int, duration: float, least: float = 0.0) -> int | None:
        """The token, for `duration` seconds from now; None while another trainer holds the right.

        The holder extends its lease, with the same token, to the later of both ends; also after the end, if no other
        trainer acquired it since. A later incarnation of the same trainer takes it over, with a new token. Malformed for
        an empty name and for a duration that is not above 0 and at most LONGEST. least: it ends after so many seconds
        or later, until its holder extends it next time.
        """
        if not trainer:
            raise Malformed("a trainer without a name requests a lease")
        if not (math.isfinite(duration) and 0 < duration <= LONGEST):
            raise Malformed(f"a lease of {shown(duration)} seconds; it must be above 0 and at most {LONGEST:g}")
        now, held = self._clock(), self._leases.get(right)
        if held is not None and held[:2] == (trainer, life):
            self._ends[right] = _End(max(self._ends[right].promised, now + duration), now + least)
            return held.token
        if held is not None and now < self._ends[right].latest and (held.trainer != trainer or held.life > life):
            return None
        self._forget_old(now)
        token = self._last["token"] = self._last["token"] + 1
        self._leases[right] = _Lease(trainer, life, token, max(duration, least))
        self._ends[right] = _End(now + duration, now + least)
        return token

    def holds(self, right: str, trainer: str, life: int, token: int) -> bool:
        """Whether this trainer acquired the right last, with this token."""
        held = self._leases.get(right)
        return held is not None and held[:3] == (trainer, life, token)

    def release(self, right: str, trainer: str) -> None:
        """Ends the trainer's lease: any trainer may acquire the right at once, with a new token."""
        held = self._leases.get(right)
        if held is not None and held.trainer == trainer:
            self._forget(right)

    def holders(self) -> dict[str, Holder]:
        """By right: the trainer that holds it now, and the remaining seconds."""
        now = self._clock()
        left = {right: self._ends[right].latest - now for right in self._leases}
        return {right: Holder(one.trainer, left[right]) for right, one in self._leases.items() if left[right] > 0}

    def _forget_old(self, now: float) -> None:
        """Removes expired leases, which would accumulate in a job that saves to a new directory every hour."""
        if len(self._leases) > _KEPT:
            over = [right for right in self._leases if now >= self._ends[right].latest]
            for right in over[: len(self._leases) - _KEPT]:
                self._forget(right)

    def _forget(self, right: str) -> None:
        del self._leases[right]
        del self._ends[right]
