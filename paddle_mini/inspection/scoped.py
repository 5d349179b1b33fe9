# Scoped: what acts inside `with` only, and says so where it is called without it.
from __future__ import annotations

from .. import callsite


class Scoped:
    """Base class of context managers that a plain call makes without any effect: a UserWarning when one is dropped without
    having been entered."""

    _dropped_says: str | None = None
    """The warning, until it is entered."""

    def __del__(self) -> None:
        if self._dropped_says is not None:
            callsite.warn(self._dropped_says)

    def _expect_with(self, call: str) -> None:
        self._dropped_says = f"{call} has an effect inside `with` only: with {call}: exe.run(...)"

    def _entered(self) -> None:
        self._dropped_says = None
