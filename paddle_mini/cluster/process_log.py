# Logging of a job's processes: prefixes records with the process name and forwards them to the user's process.
"""
On the threads engine all records are in the user's process already. Another process calls forward_log(): its warnings
go with its heartbeats to the coordinator's EventBuffer, from which the process that started the job reads and logs
them.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any, NamedTuple

LOGGER = "paddle_mini.cluster"
TEXT_LIMIT = 500
"""Characters of one event."""
AT_ONCE = 50
"""Events in one message: within the header limit even if all characters are escaped."""
_KEPT = 200


class Event(NamedTuple):
    """A log record."""

    level: int
    text: str


_part: ContextVar[str] = ContextVar("part", default="")


class log_context:
    """Prefixes what this thread logs inside with a process name, such as "server 1". A class, as each request enters it
    and a generator takes three times as long."""

    def __init__(self, part: str):
        self._name = part

    def __enter__(self) -> None:
        self._before = _part.set(self._name)

    def __exit__(self, *exception: object) -> None:
        _part.reset(self._before)


class ProcessLogger(logging.LoggerAdapter):  # is generic for type checkers only, in Python 3.10
    """The logger of a module that runs in the processes of a job."""

    def __init__(self, name: str):
        super().__init__(logging.getLogger(name), {})

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        part = _part.get() or _waiting.part
        return (f"{part}: {msg}" if part else msg), kwargs


class _Waiting(logging.Handler):
    """Events that no heartbeat has sent yet; the oldest are dropped when there are too many."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.part = ""
        self.events: deque[Event] = deque(maxlen=_KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        self.events.append(Event(record.levelno, _short(self.format(record))))


_waiting = _Waiting()


def forward_log(part: str) -> None:
    """Declares this process part of a job: its warnings and errors go to the process that started the job, and not to
    its own terminal, where they would appear a second time."""
    logger = logging.getLogger(LOGGER)
    _waiting.part = part
    logger.addHandler(_waiting)
    logger.propagate = False


def pending_events() -> list[Event]:
    """The oldest unsent events. They stay until events_sent(), as a heartbeat may fail."""
    return list(_waiting.events)[:AT_ONCE]


def events_sent(events: list[Event]) -> None:
    """Removes events that have arrived."""
    for event in events:
        if _waiting.events and _waiting.events[0] is event:  # else it was dropped meanwhile
            _waiting.events.popleft()


class EventBuffer:
    """The newest log events of other processes, for the process that started the job."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque(maxlen=_KEPT)
        self.count = 0
        """Number of events so far."""

    def add(self, events: list[Event]) -> None:
        self._events.extend(events)
        self.count += len(events)

    def after(self, number: int) -> tuple[int, list[Event]]:
        """The number for the next call, and at most AT_ONCE events after the first `number`. Dropped events are
        skipped; a number that is too high belongs to an earlier coordinator and is ignored."""
        gone = self.count - len(self._events)
        first = gone if number > self.count else max(number, gone)
        events = list(self._events)[first - gone :][:AT_ONCE]
        return first + len(events), events


def _short(text: str) -> str:
    """Shortens a text in the middle: the end of a traceback matters most."""
    if len(text) <= TEXT_LIMIT:
        return text
    half = TEXT_LIMIT // 2 - 3
    return f"{text[:half]} … {text[-half:]}"
