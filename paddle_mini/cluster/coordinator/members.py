# Members: who is in the job, by number, and who was not heard of for too long.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..errors import Gone, Malformed, NotElected
from ..process_log import ProcessLogger
from ..values import MemberStatus

_log = ProcessLogger(__name__)


class Member:
    """One life of a trainer or server. key: its own name for this life; facts: what it said when it joined."""

    def __init__(self, key: str, incarnation: int, facts: dict[str, Any], deadline: float):
        self.key, self.incarnation, self.facts, self.deadline = key, incarnation, facts, deadline


class Members:
    """The trainers, or the servers, that are there.

    what: "trainer", for messages. clock: the time in seconds, from any beginning. lease: who says nothing for so many
    seconds is lost. limit: numbers are below it; None: there are as many as come. on_end(number, lost) is called when
    one is not there any more: it left, it was lost, or another life of it came. version: rises when members change.
    changes: counts what a request changed; a loss is known again after a restart.
    """

    def __init__(
        self, what: str, clock: Callable[[], float], lease: float, limit: int | None, on_end: Callable[[int, bool], None]
    ):
        self.what, self._clock, self._lease, self._limit, self._on_end = what, clock, lease, limit, on_end
        self.present: dict[int, Member] = {}
        self._incarnations: dict[int, int] = {}
        self._reports: dict[int, dict[str, Any]] = {}
        self._lost: dict[int, bool] = {}  # who did not leave by itself
        self._restarts: dict[int, int] = {}
        self.version = 0
        self.changes = 0
        self._next_expiry = -math.inf

    def join(self, key: str, number: int | None, facts: dict[str, Any]) -> int:
        """The number of a new life: the one it asks for, which ends a life that has it, or else the lowest free one.
        The same key again, as in a message that comes twice, gets the same number. NotElected when none is free."""
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
        """A member is there, and so for another lease. Gone when the job goes on without it."""
        member = self.present.get(number)
        if member is None or member.incarnation != incarnation:
            last = self._incarnations.get(number)
            why = (
                "it never joined"
                if last is None or incarnation > last
                else "another one has its number"
                if incarnation < last
                else "it left, or was not heard of for too long"
            )
            raise Gone(f"{self.what} {number}, incarnation {incarnation}, is not in this job: {why}")
        member.deadline = self._clock() + self._lease

    def has(self, number: int, incarnation: int) -> bool:
        """Whether this life of a member is there."""
        member = self.present.get(number)
        return member is not None and member.incarnation == incarnation

    def report(self, number: int, incarnation: int, report: dict[str, Any]) -> None:
        """A member is there, and says what it does. Gone as of hear()."""
        self.renew(number, incarnation)
        self._reports[number] = report

    def leave(self, number: int, incarnation: int) -> None:
        """A member goes; nothing when it is gone already."""
        if self.has(number, incarnation):
            self._end(number, lost=False)
            self.changes += 1

    def set_fact(self, fact: str, value: Any) -> None:
        """A fact of all that are there."""
        for number, one in self.present.items():
            self.present[number] = Member(one.key, one.incarnation, {**one.facts, fact: value}, one.deadline)

    def drop_lost(self) -> None:
        """Those whose lease has ended are not there any more."""
        now = self._clock()
        if now < self._next_expiry:  # comes with every request, of which there are many times more than members
            return
        for number in [number for number, member in self.present.items() if now >= member.deadline]:
            _log.warning("%s %d was not heard of for %g s: the job goes on without it", self.what, number, self._lease)
            self._end(number, lost=True)
        self._next_expiry = min((member.deadline for member in self.present.values()), default=math.inf)

    def status(self) -> dict[str, MemberStatus]:
        """By number, of all that ever were there."""
        rows: dict[str, MemberStatus] = {}
        for number in sorted(self._incarnations):
            member = self.present.get(number)
            silent = None if member is None else self._clock() + self._lease - member.deadline
            rows[str(number)] = MemberStatus(
                member is not None, self._restarts.get(number, 0), silent, self._reports.get(number, {})
            )
        return rows

    def snapshot(self) -> dict[str, Any]:
        """Members and incarnations as JSON values; of each lease the seconds that are left."""
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
        """Goes on from a snapshot, but for the reports."""
        now = self._clock()
        self.present = {
            number: Member(key, incarnation, dict(facts), now + left)
            for number, key, incarnation, facts, left in state["present"]
        }
        self._incarnations = {number: incarnation for number, incarnation in state["incarnations"]}
        self._restarts = {number: count for number, count in state["restarts"]}
        self.version, self._next_expiry = state["version"], -math.inf

    def renew_all(self) -> None:
        """After a restart: all that were there are taken for heard of now; and as losses since the snapshot are
        forgotten, the version goes to where it has not been."""
        for member in self.present.values():
            member.deadline = self._clock() + self._lease
        self.version += 1 << 20

    def _end(self, number: int, lost: bool) -> None:
        del self.present[number]
        self._lost[number] = lost
        self.version += 1
        self._on_end(number, lost)
