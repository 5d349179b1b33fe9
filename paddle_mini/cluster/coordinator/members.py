# Members: the trainers or servers of a job, by number, with leases that their heartbeats renew.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import Gone, Malformed, NotElected
from ..latencies import Latencies
from ..process_log import ProcessLogger
from ..values import MemberStatus
from .tables import Part, Table

_log = ProcessLogger(__name__)


class Member(NamedTuple):
    """One incarnation of a trainer or server. key: its unique name for it; facts: what it sent when it joined."""

    key: str
    incarnation: int
    facts: dict[str, Any]


class _Past(NamedTuple):
    """incarnation: the last one of a number. restarts: how often it was lost and came back; lost: whether it is now, and
    did not leave."""

    incarnation: int
    restarts: int
    lost: bool


class Members(Part):
    """The trainers, or the servers, that are present.

    what: "trainer", for messages. clock: monotonic time in seconds. lease: seconds without a message after which a
    member is lost. limit: numbers are below it; None: unlimited.
    on_end(number, lost) is called when a member left, was lost, or was replaced by another incarnation. version:
    increases when members change. When a lease ends is not durable: after a restart losses are detected again.
    """

    def __init__(
        self, what: str, clock: Callable[[], float], lease: float, limit: int | None, on_end: Callable[[int, bool], None]
    ):
        self.what, self._clock, self._lease, self._limit, self._on_end = what, clock, lease, limit, on_end
        self.present: Table[int, Member] = Table(lambda value: Member(*value))
        self._past: Table[int, _Past] = Table(lambda value: _Past(*value))
        self._counts: Table[str, int] = Table()
        self.tables = {"present": self.present, "past": self._past, "counts": self._counts}
        self._counts["version"] = 0
        self._reports: dict[int, tuple[dict[str, Any], Latencies]] = {}
        self._deadlines: dict[int, float] = {}
        self.derive()

    def derive(self) -> None:
        end = self._clock() + self._lease
        self._deadlines = {number: self._deadlines.get(number, end) for number in self.present}
        self._numbers = {member.key: number for number, member in self.present.items()}
        self._lowest = 0  # all numbers below are present
        self._next_expiry = -math.inf

    @property
    def version(self) -> int:
        return self._counts["version"]

    def join(self, key: str, number: int | None, facts: dict[str, Any]) -> int:
        """The number of a new incarnation: the requested one, which ends the incarnation that has it, or else the
        lowest free one. The same key again, as in a repeated message, gets the same number. NotElected when no number
        is free."""
        if not key:
            raise Malformed(f"a {self.what} joins without a key")
        known = self._numbers.get(key)
        if known is not None:
            self._deadlines[known] = self._clock() + self._lease
            return known
        if number is None:
            while self._lowest in self.present:
                self._lowest += 1
            number = self._lowest
            if self._limit is not None and number >= self._limit:
                raise NotElected(f"there are {self._limit} {self.what}s already")
        elif self._limit is not None and number >= self._limit:
            raise Malformed(f"{self.what} {number}: this job has {self._limit}, from 0")
        if number in self.present:
            self._end(number, lost=True)
        past = self._past.get(number, _Past(0, 0, False))
        self._past[number] = _Past(past.incarnation + 1, past.restarts + past.lost, False)
        self.present[number] = Member(key, past.incarnation + 1, facts)
        self._numbers[key] = number
        self._deadlines[number] = self._clock() + self._lease
        self._next_expiry = min(self._next_expiry, self._deadlines[number])
        self._counts["version"] += 1
        return number

    def renew(self, number: int, incarnation: int) -> None:
        """Renews the lease of a member. Gone when it is no longer in the job."""
        self.require(number, incarnation)
        self._deadlines[number] = self._clock() + self._lease

    def require(self, number: int, incarnation: int) -> None:
        """Gone when this member is no longer in the job."""
        if not self.has(number, incarnation):
            past = self._past.get(number)
            why = (
                "it never joined"
                if past is None or incarnation > past.incarnation
                else "another one has its number"
                if incarnation < past.incarnation
                else "it left, or sent nothing for too long"
            )
            raise Gone(f"{self.what} {number}, incarnation {incarnation}, is not in this job: {why}")

    def has(self, number: int, incarnation: int) -> bool:
        """Whether this incarnation of a member is present."""
        member = self.present.get(number)
        return member is not None and member.incarnation == incarnation

    def note_report(self, number: int, report: dict[str, Any], latencies: Latencies) -> None:
        """Stores the last report of a member."""
        self._reports[number] = report, latencies

    def leave(self, number: int, incarnation: int) -> None:
        """Removes a member; no effect when it is gone already."""
        if self.has(number, incarnation):
            self._end(number, lost=False)

    def set_fact(self, fact: str, value: Any) -> None:
        """Sets a fact of all members that are present."""
        for number, one in list(self.present.items()):
            self.present[number] = one._replace(facts={**one.facts, fact: value})

    def drop_lost(self) -> None:
        """Removes the members whose leases have expired."""
        now = self._clock()
        if now < self._next_expiry:  # on every request, which are far more frequent than losses
            return
        for number in [number for number, deadline in self._deadlines.items() if now >= deadline]:
            _log.warning("%s %d sent nothing for %g s: the job continues without it", self.what, number, self._lease)
            self._end(number, lost=True)
        self._next_expiry = min(self._deadlines.values(), default=math.inf)

    def status(self) -> dict[str, MemberStatus]:
        """By number, of all members that ever joined."""
        rows: dict[str, MemberStatus] = {}
        for number in sorted(self._past):
            past, is_present = self._past[number], number in self.present
            silent = self._clock() + self._lease - self._deadlines[number] if is_present else None
            rows[str(number)] = MemberStatus(is_present, past.lost, past.restarts, silent, *self._reports.get(number, ({}, {})))
        return rows

    def renew_all(self) -> None:
        """After a restart: renews all leases, and moves the version beyond those of losses since the last record."""
        end = self._clock() + self._lease
        self._deadlines = dict.fromkeys(self.present, end)
        self._counts["version"] += 1 << 20

    def _end(self, number: int, lost: bool) -> None:
        del self._numbers[self.present.pop(number).key]
        del self._deadlines[number]
        self._past[number] = self._past[number]._replace(lost=lost)
        self._lowest = min(self._lowest, number)
        self._counts["version"] += 1
        self._on_end(number, lost)
