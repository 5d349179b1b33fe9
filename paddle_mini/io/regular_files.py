# Regular files: opening never blocks on a pipe, replacing does not follow links and is atomic.
from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .. import _core
from .._core import ProgramError
from ..errors import shown


def path_of(path: str | os.PathLike[str]) -> str:
    """A path as text; ProgramError for an invalid path."""
    if not isinstance(path, (str, os.PathLike)):
        raise ProgramError(f"{shown(path)} is not a path, which is a str or a pathlib.Path")
    text = os.fspath(path)
    try:
        if b"\0" not in os.fsencode(text):
            return text
    except UnicodeEncodeError:
        pass
    raise ProgramError(f"{shown(text)} is not a path: it has a zero byte, or a half of a character")


@contextmanager
def naming_failures(what: str) -> Iterator[None]:
    """Maps OSError to a ProgramError whose message begins with `what`."""
    try:
        yield
    except OSError as error:
        file = f" ('{os.path.basename(error.filename)}')" if isinstance(error.filename, str) else ""
        raise ProgramError(f"{what}: {error.strerror or error}{file}") from None


def open_regular(path: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """The descriptor of a regular file; OSError for anything else that is there, such as a pipe or a device, and for what
    open() refuses."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a regular file", path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text file, whole or not at all; ProgramError for a path where that is not possible."""
    _core.write_files([(path_of(path), [text.encode()])])


def replace_file(path: str, data: bytes) -> None:
    """Like _core.write_file, but raises OSError: replaces the file atomically and keeps its mode."""
    folder = os.path.dirname(path) or "."
    _core.remove_unfinished(folder)
    mode = 0
    with suppress(FileNotFoundError):
        mode = os.stat(path, follow_symlinks=False).st_mode
    beside, descriptor = _unfinished(folder)
    try:
        with os.fdopen(descriptor, "wb") as file:  # which holds the lock
            file.write(data)
            file.flush()
            if stat.S_ISREG(mode):
                os.fchmod(descriptor, stat.S_IMODE(mode))
            os.fsync(descriptor)
            os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    sync_directory(folder)


def _unfinished(folder: str) -> tuple[str, int]:
    """A new file and its descriptor, which is locked: other saves remove such files that are not locked."""
    while True:
        beside = os.path.join(folder, _core.unfinished_name())
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:
                return beside, descriptor
        os.close(descriptor)


def sync_directory(path: str) -> None:
    """Writes the names in a directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
