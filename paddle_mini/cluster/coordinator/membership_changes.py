# MembershipChanges: the latest changes of the trainers, for processes that know an earlier membership.
from __future__ import annotations

from collections import deque

KEPT = 10_000


class MembershipChanges:
    """first: the membership from which on changes are known."""

    def __init__(self, first: int):
        self._first = first
        self._changes: deque[tuple[int, int]] = deque()

    def note(self, membership: int, number: int) -> None:
        """With this membership a trainer joined or ended."""
        self._changes.append((membership, number))
        if len(self._changes) > KEPT:
            self._first = self._changes.popleft()[0]

    def since(self, membership: int) -> set[int] | None:
        """The trainers that joined or ended after this membership; None if that is not known any more."""
        if membership < self._first:
            return None
        found = set()
        for later, number in reversed(self._changes):
            if later <= membership:
                break
            found.add(number)
        return found
