# DurableState: the tables of a coordinator and their files; replies wait until what they depend on is on the disk.
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from ..engine import Answer, Respond
from ..errors import StorageError
from ..messages import encode_error
from ..object_store import is_url
from ..process_log import ProcessLogger
from .coordinator_file import CoordinatorFiles, read_state, restoring
from .coordinator_objects import CoordinatorObjects
from .tables import Journal, Part

LONGEST_WAIT = 0.01
"""Seconds for which a reply waits for others that need the disk, too."""
A = TypeVar("A")
_log = ProcessLogger(__name__)


class DurableState:
    """The state of parts in a directory. Raises StorageError and WrongJob as read_state does. found: whether it has one.
    errors: requests that failed with the disk.

    A change is appended to the log before its reply is made, and the reply is given when the log is on the disk. One call
    of fdatasync is enough for all replies that wait for it (group commit). If it fails, all changes that are not on the
    disk are undone, and their requests fail."""

    def __init__(self, directory: str, job: str, parts: Mapping[str, Part]):
        files: CoordinatorFiles
        if is_url(directory):
            files = CoordinatorObjects(directory, job)
            stored = files.stored
        else:
            stored = read_state(directory, job)
            files = CoordinatorFiles(directory, job, stored.number if stored is not None else 0)
        self.found, self.errors = stored is not None, 0
        self._journal = Journal(parts)
        if stored is not None:
            with restoring(directory):
                self._journal.restore(stored.state, stored.records)
        self._files = files
        self._waiting: list[tuple[Respond, Answer]] = []
        self._since = 0.0  # when the first of them came
        self._is_synced = True

    def begin(self) -> None:
        """Writes a snapshot, after changes that begin a run."""
        self._write_snapshot()
        self._journal.forget()

    def change(self, do: Callable[[], A]) -> A:
        """The result of do(), whose changes are appended to the log; if that or do() fails, they are undone."""
        mark = self._journal.mark()
        try:
            result = do()
            if self._journal.mark() != mark:
                self._append()
        except BaseException as error:
            self._journal.undo(mark)
            self.errors += isinstance(error, StorageError)
            raise
        return result

    def _append(self) -> None:
        if self._files.needs_snapshot:
            return self._write_snapshot()
        self._files.append(self._journal.record())
        self._journal.written()
        self._is_synced = False
        if self._files.is_long:
            try:
                self._write_snapshot()
            except StorageError as error:
                self._files.postpone_snapshot()
                _log.warning("its log grows, as a snapshot can't be written: %s", error)

    def _write_snapshot(self) -> None:
        self._files.snapshot(self._journal.snapshot())
        self._journal.written()
        self._is_synced = True

    def reply(self, respond: Respond, answer: Answer) -> None:
        """Calls respond(answer), now or in sync(), when all changes so far are on the disk."""
        if self._is_synced:
            respond(answer)
        else:
            self._since = self._since if self._waiting else time.monotonic()
            self._waiting.append((respond, answer))

    @property
    def is_late(self) -> bool:
        """Whether a reply has waited for long enough."""
        return bool(self._waiting) and time.monotonic() - self._since >= LONGEST_WAIT

    def sync(self) -> None:
        """Gives the replies that wait, after one call of fdatasync."""
        waiting, self._waiting = self._waiting, []
        try:
            if not self._is_synced:
                self._files.sync()
            self._journal.forget()
        except StorageError as error:
            _log.error("%s; %d requests that wait for it are undone", error, len(waiting))
            self._journal.undo()
            self.errors += len(waiting)
            waiting = [(respond, encode_error(error.kind, str(error))) for respond, _ in waiting]
        self._is_synced = True
        for respond, answer in waiting:
            respond(answer)

    def close(self) -> None:
        """Gives the replies that wait; no other call follows."""
        self.sync()
        self._files.close()
