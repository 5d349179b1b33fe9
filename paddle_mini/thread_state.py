# ThreadState: the state of guards and seed(), for the process, or for one thread inside own_state().
from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class ThreadState:
    """Each field belongs to the named file, which documents it."""

    def __init__(self) -> None:
        self.main: Any = None  # guards.py
        self.startup: Any = None
        self.guard_depth = 0
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
    """Isolates the state of guards from other threads: a trainer in a thread builds its programs as in a separate
    process. Set the programs and the scope first, with program_guard and scope_guard."""
    before = getattr(_of_thread, "state", None)
    _of_thread.state = ThreadState()
    try:
        yield
    finally:
        if before is None:
            del _of_thread.state
        else:
            _of_thread.state = before
