# Turns of replicas that share devices. A device runs its work in one order, and a sum of replicas ends when all of them have
# reached it: two groups whose sums two devices have in different orders would wait for each other.
from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ._core import OpError

_changed = threading.Condition()
_turns: dict[str, int] = {}  # by device: the thread that has the turn


@contextmanager
def turn(devices: Iterable[str]) -> Iterator[None]:
    """Inside, no other thread has a turn with any of the devices. All are taken at once, so turns can't wait for each other."""
    names, thread = frozenset(devices), threading.get_ident()
    with _changed:
        if thread in (_turns.get(name) for name in names):
            raise OpError("replicas run a program on these devices already: a signal handler can't begin another run")
        _changed.wait_for(lambda: names.isdisjoint(_turns))
        _turns.update(dict.fromkeys(names, thread))
    try:
        yield
    finally:
        with _changed:
            for name in names:
                del _turns[name]
            _changed.notify_all()
