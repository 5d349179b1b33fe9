# The files of a coordinator: coordinator.json, a snapshot of its durable state, and a log of the changes since.
"""
    coordinator.json     {"sha256": …, "coordinator": {"format": 2, "job", "log": N, "state": {table: [[key, value], …]}}},
                         replaced atomically
    coordinator.N.log    lines of a CRC-32 in 8 hexadecimal digits, a space and JSON: first {"format", "job", "log"}, then
                         [number, {table: [[key, value], …, [removed key]]}], number from 1

A new snapshot comes with a new, empty log: the log is made first, then the snapshot that names it replaces the previous one,
then the previous log is removed. So a crash at any moment leaves a snapshot whose log exists.

A record counts once sync() has returned. The end of a log that was being written when the machine stopped may miss bytes,
or have zeros where pages did not reach the disk: such an end is cut off, because no reply has said that it counts. Anything
else that does not fit its CRC, or the sequence of numbers, is damage.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from ...errors import shown
from ...io.regular_files import open_regular, replace_file, sync_directory
from ..errors import StorageError, WrongJob, WrongVersion
from ..process_log import ProcessLogger
from .format_1 import tables_of

NAME = "coordinator.json"
FORMAT = 2
LOG_LIMIT = 1 << 20
"""Bytes of a log after which a snapshot is written, or twice those of the snapshot if that is more: a record then costs as
much as a few of its own bytes, for any number of members."""
_log = ProcessLogger(__name__)


class Stored(NamedTuple):
    """A snapshot, the number of its log, and the changes in the log."""

    state: dict[str, Any]
    number: int
    records: list[dict[str, Any]]


def read_state(directory: str, job: str) -> Stored | None:
    """The state that CoordinatorFiles wrote last; None if there are no files. WrongJob for files of another job; WrongVersion;
    StorageError for files that can't be read or are damaged."""
    path = os.path.join(directory, NAME)
    try:
        data = _read(path)
    except FileNotFoundError:
        return None
    try:
        facts = json.loads(data)["coordinator"]
        whole = isinstance(facts, dict) and _spelled(facts) == data
    except (ValueError, KeyError, TypeError, RecursionError):
        whole = False
    if not whole:
        raise damaged(path)
    if facts.get("format") not in (1, FORMAT):
        raise WrongVersion(f"'{path}' has format {shown(facts.get('format'))}, only 1 and {FORMAT} are supported")
    if not isinstance(facts.get("job"), str) or not isinstance(facts.get("state"), dict) or type(facts.get("log", 0)) is not int:
        raise damaged(path)
    if facts["job"] != job:
        raise WrongJob(f"'{directory}' belongs to job {shown(facts['job'])}, not {shown(job)}: give each job its own directory")
    if facts["format"] == 1:
        with restoring(directory):
            return Stored(tables_of(facts["state"]), 0, [])
    log = _log_path(directory, facts.get("log", 0))
    try:
        return Stored(facts["state"], facts.get("log", 0), _records(log, job, facts.get("log", 0)))
    except FileNotFoundError:
        raise StorageError(f"'{log}', which belongs to '{NAME}' beside it, is missing: restore a copy of both") from None


class CoordinatorFiles:
    """Writes the files of a coordinator. number: of the log before the first snapshot.

    needs_snapshot: the log can't be continued, because it is not known what the disk has of it after an error."""

    def __init__(self, directory: str, job: str, number: int):
        self._directory, self._job, self._number = directory, job, number
        self._descriptor: int | None = None
        self._end = self._records = self._limit = 0
        self.needs_snapshot = True

    def snapshot(self, state: dict[str, Any]) -> None:
        """Writes a whole state, durably, and begins a log. On StorageError the files have the previous state or this
        one."""
        number = self._number + 1
        log, path = _log_path(self._directory, number), os.path.join(self._directory, NAME)
        data = _spelled({"format": FORMAT, "job": self._job, "log": number, "state": state})
        with _writing(path):
            os.makedirs(self._directory, exist_ok=True)
            descriptor = open_regular(log, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
            try:
                head = _line({"format": FORMAT, "job": self._job, "log": number})
                _write(descriptor, head, 0)
                os.fdatasync(descriptor)
                replace_file(path, data)
            except BaseException:
                os.close(descriptor)
                self.needs_snapshot = self.needs_snapshot or _holds(path, data)  # it belongs to the new log then
                raise
            self.close()
            self._descriptor, self._number, self._end, self._records = descriptor, number, len(head), 0
            self._limit, self.needs_snapshot = max(LOG_LIMIT, 2 * len(data)), False
            self._remove_others()

    def append(self, record: dict[str, Any]) -> None:
        """Appends a record, which counts after sync(). On StorageError the log is as it was, or needs_snapshot."""
        assert self._descriptor is not None and not self.needs_snapshot
        data = _line([self._records + 1, record])
        with _writing(_log_path(self._directory, self._number)):
            try:
                _write(self._descriptor, data, self._end)
            except OSError:
                self.needs_snapshot = True
                os.ftruncate(self._descriptor, self._end)
                self.needs_snapshot = False
                raise
        self._end += len(data)
        self._records += 1

    @property
    def is_long(self) -> bool:
        """Whether it is time for a snapshot."""
        return self._end > self._limit

    def postpone_snapshot(self) -> None:
        """Lets the log grow to twice its size before the next one is due."""
        self._limit = 2 * self._end

    def sync(self) -> None:
        """Returns when all records are on the disk."""
        if self._descriptor is None:
            return
        with _writing(_log_path(self._directory, self._number)):
            try:
                os.fdatasync(self._descriptor)
                if not os.fstat(self._descriptor).st_nlink:
                    raise OSError(errno.ENOENT, "it was removed; the next change is written with a new file")
            except OSError:
                self.needs_snapshot = True  # the kernel may have dropped pages that it could not write
                raise

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _remove_others(self) -> None:
        for name in os.listdir(self._directory):
            if re.fullmatch(r"coordinator\.[0-9]+\.log", name) and name != f"coordinator.{self._number}.log":
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(self._directory, name))
        sync_directory(self._directory)


def _records(path: str, job: str, number: int) -> list[dict[str, Any]]:
    """The records of a log."""
    data, found, begin = _read(path), list[Any](), 0
    while begin < len(data):
        end = data.find(b"\n", begin)
        line = data[begin:] if end < 0 else data[begin:end]
        value = None if end < 0 else _value(line)
        if value is None and (end < 0 or b"\0" in line) and found:
            _log.warning(
                "the last %d bytes of '%s' were being written when it ended, and did not count yet", len(data) - begin, path
            )
            break
        expected = {"format": FORMAT, "job": job, "log": number} if not found else len(found)
        if value is None or (value != expected if not found else not _is_record(value, len(found))):
            raise damaged(path)
        found.append(value)
        begin = end + 1
    if not found:
        raise damaged(path)
    return [changes for _, changes in found[1:]]


def _is_record(value: Any, number: int) -> bool:
    return isinstance(value, list) and len(value) == 2 and value[0] == number and isinstance(value[1], dict)


def _value(line: bytes) -> Any:
    """The JSON value of a line; None if the line does not fit its CRC."""
    text = line[9:]
    if line[:9] != b"%08x " % zlib.crc32(text):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _line(value: Any) -> bytes:
    text = json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _spelled(facts: Any) -> bytes:
    text = json.dumps(facts, allow_nan=False)
    return f'{{"sha256": "{hashlib.sha256(text.encode()).hexdigest()}", "coordinator": {text}}}'.encode("ascii")


def _log_path(directory: str, number: Any) -> str:
    return os.path.join(directory, f"coordinator.{int(number)}.log")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", opener=open_regular) as file:
            return file.read()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageError(f"can't read '{path}': {error.strerror or error}") from None


def _holds(path: str, data: bytes) -> bool:
    """Whether a file has this content, as far as is known."""
    try:
        return _read(path) == data
    except (FileNotFoundError, StorageError):
        return True


def _write(descriptor: int, data: bytes, offset: int) -> None:
    written = 0
    while written < len(data):
        written += os.pwrite(descriptor, data[written:], offset + written)


@contextmanager
def _writing(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"can't write '{path}': {error.strerror or error}") from None


@contextmanager
def restoring(directory: str) -> Iterator[None]:
    """StorageError where what was read has valid checksums, but its author was not a coordinator."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        raise damaged(os.path.join(directory, NAME)) from None


def damaged(path: str) -> StorageError:
    """The error for a file whose content is not what was written."""
    return StorageError(
        f"'{path}' is truncated or damaged; without it the job would repeat elections and tasks that are "
        "done: restore a copy, or use an empty directory"
    )
