# ThreadState: what guards and seed() have set, for the process, or for one thread that began anew.
from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class ThreadState:
    """Each field belongs to the file that is named, which says what it means."""

    def __init__(self) -> None:
        self.main: Any = None  # guards.py
        self.startup: Any = None
        self.scope: Any = None  # scope.py
        self.names: tuple[dict[str, int], ...] = ({},)  # unique_name.py
        self.guard_names: dict[str, int] | None = None
        self.role = 0  # roles.py
        self.role_var: Sequence[str] = ()
        self.device = ""
        self.seed: int | None = None  # executor.py
        self.executors: weakref.WeakSet[Any] = weakref.WeakSet()


_of_process = ThreadState()
_of_thread = threading.local()


def state() -> ThreadState:
    """That of the process, unless this thread is inside own_state()."""
    return getattr(_of_thread, "state", _of_process)


@contextmanager
def own_state() -> Iterator[None]:
    """What guards set inside, and in other threads, do not meet: a trainer in a thread builds its programs as it would
    in a process of its own. The programs and the scope are to be given first, by program_guard and scope_guard."""
    before = getattr(_of_thread, "state", None)
    _of_thread.state = ThreadState()
    try:
        yield
    finally:
        if before is None:
            del _of_thread.state
        else:
            _of_thread.state = before
