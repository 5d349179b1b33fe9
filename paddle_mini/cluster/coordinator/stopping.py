# Stopping: in collective mode, decides which trainer writes the checkpoint with which a job is stopped.
from __future__ import annotations

from ..replies import Stopped


class Stopping:
    """has_begun: the job is stopped, and no further step is made. result: what became of its last checkpoint, None until that
    is known."""

    def __init__(self) -> None:
        self.has_begun = False
        self.result: Stopped | None = None
        self._saver: int | None = None

    def asks(self, number: int) -> bool:
        """Whether a trainer that has the newest state must write it: the first that is there with it does."""
        if not self.has_begun or self._saver is not None:
            return False
        self._saver = number
        return True

    def note_saved(self, number: int, step: int, problem: str) -> None:
        if number == self._saver:
            self.result = Stopped(step, problem)

    def note_lost(self, number: int) -> None:
        """Another one must write it, if this trainer has not."""
        if number == self._saver and self.result is None:
            self._saver = None
