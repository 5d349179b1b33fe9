# Schedulers and containers end a process with SIGTERM. It is answered as Ctrl-C is: what Ctrl-C saves, SIGTERM saves too.
from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import Any, Iterator

STATUS = 128 + signal.SIGTERM
"""The exit status of a command that SIGTERM ended."""


class Terminated(KeyboardInterrupt):
    """SIGTERM came. It is a KeyboardInterrupt, so code that handles Ctrl-C handles it too."""


def _terminate(number: int, frame: Any) -> None:
    raise Terminated("SIGTERM")


def heed_sigterm() -> bool:
    """From now on SIGTERM raises Terminated in the main thread; False where another handler is set already, and in
    other threads, which can't set a handler."""
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
