# SIGTERM, by which schedulers and containers end a process, as Ctrl-C: what is saved then is saved.
from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import Any, Iterator

STATUS = 128 + signal.SIGTERM
"""The exit status of a command that SIGTERM ended."""


class Terminated(KeyboardInterrupt):
    """SIGTERM came; who answers Ctrl-C answers it too."""


def _terminate(number: int, frame: Any) -> None:
    raise Terminated("SIGTERM")


def heed_sigterm() -> bool:
    """From now on SIGTERM raises Terminated in the main thread; False where another handler is set already, or in another
    thread, which can set none."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return False
    signal.signal(signal.SIGTERM, _terminate)
    return True


@contextmanager
def sigterm_heeded() -> Iterator[None]:
    """heed_sigterm() inside."""
    heeded = heed_sigterm()
    try:
        yield
    finally:
        if heeded:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
