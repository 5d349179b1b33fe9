# ThreadState: the state of guards and seed(), for the process, or for one thread inside a guard of its own or own_state().
from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class Seeds:
    """The number of seed() and the executors that it seeds."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.executors: weakref.WeakSet[Any] = weakref.WeakSet()


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
        self.seeds = Seeds()  # executor.py; guards of threads share it


_of_process = ThreadState()
_of_thread = threading.local()


def state() -> ThreadState:
    """That of the process, unless this thread is inside a guard of its own or own_state()."""
    return getattr(_of_thread, "state", _of_process)


class setting:
    """`with setting(role=2):` sets fields of the state inside, for a guard: in the main thread for all threads that are in no
    guard of their own, in any other thread for this one, so that threads can build programs at the same time."""

    __slots__ = ("_fields", "_before", "_is_outermost")

    def __init__(self, **fields: Any):
        self._fields = fields

    def __enter__(self) -> None:
        self._is_outermost = state() is _of_process and threading.current_thread() is not threading.main_thread()
        if self._is_outermost:
            _of_thread.state = own = ThreadState()  # roles, devices and names are those of operators that another thread builds
            for name in ("main", "startup", "names", "guard_depth", "scope", "seeds"):
                setattr(own, name, getattr(_of_process, name))
        values = vars(state())
        self._before = {name: values[name] for name in self._fields}
        values.update(self._fields)

    def __exit__(self, *error: object) -> None:
        if self._is_outermost:
            del _of_thread.state
        else:
            vars(state()).update(self._before)


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
