# StepGuard: Ctrl-C and SIGTERM never come between a step and the count of it.
from __future__ import annotations

import signal
import threading
from typing import Any

from ..termination import raises_interrupt


class StepGuard:
    """`with guard:` is an uninterrupted section: a first Ctrl-C or SIGTERM is raised at its end, a second one at once.

    Between activate() and close(), in the main thread, for signals that would raise KeyboardInterrupt; handlers of the user stay.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._inside = False
        self._pending: int | None = None
        self.is_broken = False
        """Whether a second signal, or an error, has ended a section in its middle."""

    def activate(self) -> StepGuard:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if raises_interrupt(handler):
                    self._before[number] = handler
                    signal.signal(number, self._handle)
        return self

    def close(self) -> None:
        """Gives the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def __enter__(self) -> None:
        self._inside = True

    def __exit__(self, kind: Any, *error: Any) -> None:
        self._inside = False
        self.is_broken = self.is_broken or kind is not None
        number, self._pending = self._pending, None
        if number is not None and kind is None:
            self._before[number](number, None)

    def _handle(self, number: int, frame: Any) -> None:
        if self._inside and self._pending is None:
            self._pending = number
            return
        self._before[number](number, frame)
