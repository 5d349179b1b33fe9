# Pace: what a trainer has done, and how fast, for the coordinator's status.
from __future__ import annotations

import time


class Pace:
    """steps: that it has made so far; saves: models that it has saved."""

    def __init__(self) -> None:
        self.steps = self.saves = 0
        self._reported = time.monotonic(), 0

    def report(self) -> dict[str, float]:
        """Since the report before."""
        (before, steps), now = self._reported, time.monotonic()
        self._reported = now, self.steps
        return {"steps": self.steps, "steps_per_second": (self.steps - steps) / max(now - before, 1e-9), "saves": self.saves}
