# DurableState: the tables of a coordinator and their files; replies wait until what they depend on is on the disk.
from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from ..engine import Answer, Respond
from ..errors import StorageError
from ..messages import encode_error
from ..process_log import ProcessLogger
from .coordinator_file import CoordinatorFiles, read_state
from .tables import Journal, Part

A = TypeVar("A")
_log = ProcessLogger(__name__)


class DurableState:
    """The state of parts in a directory. Raises StorageError and WrongJob as read_state does. found: whether it has one.
    lock: of the coordinator; held in all calls but sync() and close(). errors: requests that failed with the disk.

    A change is appended to the log before its reply is made, and the reply is given when the log is on the disk. One call
    of fdatasync is enough for all replies that wait for it: while the disk works, further requests are handled (group
    commit). If it fails, all changes that are not on the disk are undone, and their requests fail."""

    def __init__(self, directory: str, job: str, parts: Mapping[str, Part], lock: AbstractContextManager[Any]):
        stored = read_state(directory, job)
        self.found, self.errors = stored is not None, 0
        self._journal = Journal(parts)
        if stored is not None:
            self._journal.restore(stored.state, stored.records)
        self._files = CoordinatorFiles(directory, job, stored.number if stored is not None else 0)
        self._lock, self._syncing = lock, threading.Lock()
        self._waiting: list[tuple[Respond, Answer]] = []
        self._synced = 0  # the mark of the journal up to which all changes are on the disk, or need not be
        self._appended = 0
        self._wanted, self._over = threading.Condition(), False
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Writes a snapshot, after changes that begin a run."""
        self._write_snapshot()

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
        self._appended = self._journal.mark()
        if self._files.is_long:
            try:
                self._write_snapshot()
            except StorageError as error:
                self._files.postpone_snapshot()
                _log.warning("its log grows, as a snapshot can't be written: %s", error)

    def _write_snapshot(self) -> None:
        self._files.snapshot(self._journal.snapshot())
        self._journal.written()
        self._synced = self._appended = self._journal.mark()
        self._journal.forget(self._synced)

    def reply(self, respond: Respond, answer: Answer) -> None:
        """Calls respond(answer), now or in sync(), when all changes so far are on the disk."""
        if self._appended <= self._synced:
            respond(answer)
        else:
            self._waiting.append((respond, answer))

    def sync(self) -> None:
        """Gives the replies that wait, after one call of fdatasync."""
        with self._syncing:
            with self._lock:
                waiting, self._waiting, mark = self._waiting, [], self._appended
                log = self._files.log() if mark > self._synced else None
            error = log and log.sync()
            with self._lock:
                if error is not None and mark > self._synced:  # else a snapshot has taken its place meanwhile
                    _log.error("%s; requests that were not answered yet are undone", error)
                    self._files.needs_snapshot = True  # the kernel may have dropped pages that it could not write
                    self._journal.undo()
                    self._synced = self._appended = self._journal.mark()
                    waiting = [(respond, encode_error(error.kind, str(error))) for respond, _ in waiting + self._waiting]
                    self._waiting = []
                    self.errors += len(waiting)
                self._synced = max(self._synced, mark)
                self._journal.forget(self._synced)
                for respond, answer in waiting:
                    respond(answer)

    def sync_soon(self) -> None:
        """Has another thread call sync(), if replies wait."""
        if not self._waiting:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._sync_always, name="coordinator's disk", daemon=True)
            self._thread.start()
        with self._wanted:
            self._wanted.notify()

    def _sync_always(self) -> None:
        while not self._over:
            with self._wanted:
                while not self._waiting and not self._over:
                    self._wanted.wait(0.05)
            self.sync()

    def close(self) -> None:
        """Gives the replies that wait; no other call follows."""
        self._over = True
        if self._thread is not None:
            with self._wanted:
                self._wanted.notify()
            self._thread.join()
        self.sync()
        self._files.close()
