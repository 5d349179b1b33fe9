# SIGTERM handling: schedulers and containers stop a process with SIGTERM, which is treated like Ctrl-C.
from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

STATUS = 128 + signal.SIGTERM
"""The exit status of a command that SIGTERM ended."""


class Terminated(KeyboardInterrupt):
    """SIGTERM came. It is a KeyboardInterrupt, so code that handles Ctrl-C handles it too."""


def exit_status(stopped: KeyboardInterrupt) -> int:
    """The exit status of a command that Ctrl-C or SIGTERM ended."""
    return STATUS if isinstance(stopped, Terminated) else 130


def _terminate(number: int, frame: Any) -> None:
    raise Terminated("SIGTERM")


_holders: set[object] = set()  # one for each caller of heed_sigterm whose result has not been called


def heed_sigterm() -> Callable[[], None]:
    """Makes SIGTERM raise Terminated in the main thread. Returns a function that ends this; with several callers
    the last one does. Another handler that is set already stays. Only the main thread can set a handler: elsewhere
    nothing is changed."""
    heard = signal.getsignal(signal.SIGTERM)
    if not in_main_thread() or heard not in (signal.SIG_DFL, _terminate):
        return lambda: None
    holder = object()
    _holders.add(holder)
    signal.signal(signal.SIGTERM, _terminate)
    return partial(_leave, holder)


def _leave(holder: object) -> None:
    _holders.discard(holder)
    if not _holders and in_main_thread() and signal.getsignal(signal.SIGTERM) is _terminate:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def in_main_thread() -> bool:
    """Whether this thread can set handlers of signals."""
    return threading.current_thread() is threading.main_thread()


@contextmanager
def sigterm_heeded() -> Iterator[None]:
    """heed_sigterm() inside."""
    leave = heed_sigterm()
    try:
        yield
    finally:
        leave()


def raises_interrupt(handler: Any) -> bool:
    """Whether a signal with this handler raises KeyboardInterrupt, by Python's handler of Ctrl-C or by heed_sigterm()."""
    return handler in (signal.default_int_handler, _terminate)
