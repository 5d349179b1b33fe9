# Logging of a job's parts: each record says which part it is of, also where that is another process than the user's.
"""
On threads the records of all parts are in the user's process already, and are as any others. A part in a process of
its own calls forward_log(): its warnings go along with its beats to the coordinator's Board, and whoever began the job
reads them there and logs them.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

LOGGER = "paddle_mini.cluster"
TEXT_LIMIT = 500
"""Characters of one event."""
AT_ONCE = 50
"""Events in one message: with all characters escaped they are still less than a header may have."""
_KEPT = 200


class Event(NamedTuple):
    """A record of the log."""

    level: int
    text: str


_part: ContextVar[str] = ContextVar("part", default="")


@contextmanager
def log_context(part: str) -> Iterator[None]:
    """What is logged inside, by this thread, is of this part: "server 1"."""
    before = _part.set(part)
    try:
        yield
    finally:
        _part.reset(before)


class ProcessLogger(logging.LoggerAdapter):  # is generic for type checkers only, in Python 3.10
    """The logger of a module whose code runs in parts."""

    def __init__(self, name: str):
        super().__init__(logging.getLogger(name), {})

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        part = _part.get() or _waiting.part
        return (f"{part}: {msg}" if part else msg), kwargs


class _Waiting(logging.Handler):
    """Events that no beat has taken along yet; the oldest go when there are too many."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.part = ""
        self.events: deque[Event] = deque(maxlen=_KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        self.events.append(Event(record.levelno, _short(self.format(record))))


_waiting = _Waiting()


def forward_log(part: str) -> None:
    """This process is one part of a job: its warnings and errors go to whoever began the job, and not to its own
    terminal, where they would be seen a second time."""
    logger = logging.getLogger(LOGGER)
    _waiting.part = part
    logger.addHandler(_waiting)
    logger.propagate = False


def pending_events() -> list[Event]:
    """The oldest events that have to be sent. They stay until events_sent(): a beat may find no coordinator."""
    return list(_waiting.events)[:AT_ONCE]


def events_sent(events: list[Event]) -> None:
    """They have arrived."""
    for event in events:
        if _waiting.events and _waiting.events[0] is event:  # else there were too many meanwhile
            _waiting.events.popleft()


class EventBuffer:
    """What parts in processes of their own have logged, the newest of it, for whoever began the job."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque(maxlen=_KEPT)
        self.count = 0
        """Of all that ever came."""

    def add(self, events: list[Event]) -> None:
        self._events.extend(events)
        self.count += len(events)

    def after(self, number: int) -> tuple[int, list[Event]]:
        """What came after the first `number` events, at most AT_ONCE of it; and the number to ask with next. Events
        that are not there any more are passed over; a number that is too high is of a coordinator before this one."""
        gone = self.count - len(self._events)
        first = gone if number > self.count else max(number, gone)
        events = list(self._events)[first - gone :][:AT_ONCE]
        return first + len(events), events


def _short(text: str) -> str:
    """The end of a traceback says more than its middle."""
    if len(text) <= TEXT_LIMIT:
        return text
    half = TEXT_LIMIT // 2 - 3
    return f"{text[:half]} … {text[-half:]}"
