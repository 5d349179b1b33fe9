# Pace: step count and rate of a trainer, for the coordinator's status.
from __future__ import annotations

import time


class Pace:
    """steps: made so far; saves: models saved so far."""

    def __init__(self) -> None:
        self.steps = self.saves = 0
        self._reported = time.monotonic(), 0

    def report(self) -> dict[str, float]:
        """Counts, and the rate since the previous report."""
        (before, steps), now = self._reported, time.monotonic()
        self._reported = now, self.steps
        return {"steps": self.steps, "steps_per_second": (self.steps - steps) / max(now - before, 1e-9), "saves": self.saves}
