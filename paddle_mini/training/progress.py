# Progress: a bar at a terminal where tqdm is installed, and a line for each epoch.
from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from .history import Row, values_text


class Progress:
    """Shows a training run on standard error (the bar) and standard output (the lines); nothing if it is off."""

    def __init__(self, is_on: bool):
        self.is_on = is_on
        self._bar: Any = None
        self._begin = 0.0

    def begin_epoch(self, epoch: int, epochs: int, total: int | None, position: int) -> None:
        self._begin = time.monotonic()
        if not (self.is_on and sys.stderr is not None and sys.stderr.isatty()):
            return
        try:
            from tqdm import tqdm
        except ImportError:  # the extra `progress`
            return
        self._bar = tqdm(total=total, initial=position, desc=f"epoch {epoch}/{epochs}", leave=False, file=sys.stderr)

    def step(self, values: Mapping[str, float]) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(values_text(values), refresh=False)
            self._bar.update()

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def end_epoch(self, row: Row, epochs: int) -> None:
        self.close()
        self.say(f"epoch {row['epoch']}/{epochs}: {values_text(row)} ({time.monotonic() - self._begin:.1f} s)")

    def say(self, text: str) -> None:
        if self.is_on:
            print(f"{text}\n", end="", flush=True)  # in one piece: an interrupt may come after it, not within
