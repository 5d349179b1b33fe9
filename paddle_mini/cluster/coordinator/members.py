# Members: the trainers or servers of a job, by number, with leases that their heartbeats renew.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..errors import Gone, Malformed, NotElected
from ..process_log import ProcessLogger
from ..values import MemberStatus

_log = ProcessLogger(__name__)


class Member:
    """One incarnation of a trainer or server. key: its unique name for it; facts: what it sent when it joined."""

    def __init__(self, key: str, incarnation: int, facts: dict[str, Any], deadline: float):
        self.key, self.incarnation, self.facts, self.deadline = key, incarnation, facts, deadline


class Members:
    """The trainers, or the servers, that are present.

    what: "trainer", for messages. clock: monotonic time in seconds. lease: seconds without a message after which a
    member is lost. limit: numbers are below it; None: unlimited. on_end(number, lost) is called when a member left, was
    lost, or was replaced by another incarnation. version: increases when members change. changes: counts changes by
    requests; after a restart losses are detected again.
    """

    def __init__(
        self, what: str, clock: Callable[[], float], lease: float, limit: int | None, on_end: Callable[[int, bool], None]
    ):
        self.what, self._clock, self._lease, self._limit, self._on_end = what, clock, lease, limit, on_end
        self.present: dict[int, Member] = {}
        self._incarnations: dict[int, int] = {}
        self._reports: dict[int, dict[str, Any]] = {}
        self._lost: dict[int, bool] = {}  # whether the member was lost, and did not leave
        self._restarts: dict[int, int] = {}
        self.version = 0
        self.changes = 0
        self._next_expiry = -math.inf

    def join(self, key: str, number: int | None, facts: dict[str, Any]) -> int:
        """The number of a new incarnation: the requested one, which ends the incarnation that has it, or else the
        lowest free one. The same key again, as in a repeated message, gets the same number. NotElected when no number
        is free."""
        if not key:
            raise Malformed(f"a {self.what} joins without a key")
        known = next((held for held, member in self.present.items() if member.key == key), None)
        if known is not None:
            self.present[known].deadline = self._clock() + self._lease
            return known
        if number is None:
            number = next(free for free in range(len(self.present) + 1) if free not in self.present)
            if self._limit is not None and number >= self._limit:
                raise NotElected(f"there are {self._limit} {self.what}s already")
        elif self._limit is not None and number >= self._limit:
            raise Malformed(f"{self.what} {number}: this job has {self._limit}, from 0")
        if number in self.present:
            self._end(number, lost=True)
        self._restarts[number] = self._restarts.get(number, 0) + self._lost.pop(number, False)
        incarnation = self._incarnations.get(number, 0) + 1
        self._incarnations[number] = incarnation
        self.present[number] = Member(key, incarnation, facts, self._clock() + self._lease)
        self._next_expiry = min(self._next_expiry, self.present[number].deadline)
        self.version += 1
        self.changes += 1
        return number

    def renew(self, number: int, incarnation: int) -> None:
        """Renews the lease of a member. Gone when it is no longer in the job."""
        member = self.present.get(number)
        if member is None or member.incarnation != incarnation:
            last = self._incarnations.get(number)
            why = (
                "it never joined"
                if last is None or incarnation > last
                else "another one has its number"
                if incarnation < last
                else "it left, or sent nothing for too long"
            )
            raise Gone(f"{self.what} {number}, incarnation {incarnation}, is not in this job: {why}")
        member.deadline = self._clock() + self._lease

    def has(self, number: int, incarnation: int) -> bool:
        """Whether this incarnation of a member is present."""
        member = self.present.get(number)
        return member is not None and member.incarnation == incarnation

    def report(self, number: int, incarnation: int, report: dict[str, Any]) -> None:
        """Renews the lease of a member and stores its report. Gone as for renew()."""
        self.renew(number, incarnation)
        self._reports[number] = report

    def leave(self, number: int, incarnation: int) -> None:
        """Removes a member; no effect when it is gone already."""
        if self.has(number, incarnation):
            self._end(number, lost=False)
            self.changes += 1

    def set_fact(self, fact: str, value: Any) -> None:
        """Sets a fact of all members that are present."""
        for number, one in self.present.items():
            self.present[number] = Member(one.key, one.incarnation, {**one.facts, fact: value}, one.deadline)

    def drop_lost(self) -> None:
        """Removes the members whose leases have expired."""
        now = self._clock()
        if now < self._next_expiry:  # on every request, which are far more frequent than losses
            return
        for number in [number for number, member in self.present.items() if now >= member.deadline]:
            _log.warning("%s %d sent nothing for %g s: the job continues without it", self.what, number, self._lease)
            self._end(number, lost=True)
        self._next_expiry = min((member.deadline for member in self.present.values()), default=math.inf)

    def status(self) -> dict[str, MemberStatus]:
        """By number, of all members that ever joined."""
        rows: dict[str, MemberStatus] = {}
        for number in sorted(self._incarnations):
            member = self.present.get(number)
            silent = None if member is None else self._clock() + self._lease - member.deadline
            rows[str(number)] = MemberStatus(
                member is not None, self._restarts.get(number, 0), silent, self._reports.get(number, {})
            )
        return rows

    def snapshot(self) -> dict[str, Any]:
        """Members and incarnations as JSON values; each lease with its remaining seconds."""
        now = self._clock()
        present: list[Any] = [
            [number, one.key, one.incarnation, dict(one.facts), one.deadline - now] for number, one in self.present.items()
        ]
        return {
            "present": present,
            "incarnations": list(self._incarnations.items()),
            "restarts": list(self._restarts.items()),
            "version": self.version,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restores a snapshot, which has no reports."""
        now = self._clock()
        self.present = {
            number: Member(key, incarnation, dict(facts), now + left)
            for number, key, incarnation, facts, left in state["present"]
        }
        self._incarnations = {number: incarnation for number, incarnation in state["incarnations"]}
        self._restarts = {number: count for number, count in state["restarts"]}
        self.version, self._next_expiry = state["version"], -math.inf

    def renew_all(self) -> None:
        """After a restart: renews all leases, and moves the version beyond those of losses since the snapshot."""
        for member in self.present.values():
            member.deadline = self._clock() + self._lease
        self.version += 1 << 20

    def _end(self, number: int, lost: bool) -> None:
        del self.present[number]
        self._lost[number] = lost
        self.version += 1
        self._on_end(number, lost)
