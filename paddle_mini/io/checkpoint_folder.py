# CheckpointFolder: the checkpoints in a folder: their names, the lock of the one that writes, and removal of old ones.
from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from .._core import OpError, ProgramError
from .checkpoint_files import FILES, read_manifest, write_checkpoint
from .checkpoint_values import Values
from .regular_files import naming_failures, open_regular, sync_directory

# checkpoint-NUMBER-step-STEP: the number rises with every save, also when training went back to an earlier step.
_NAME = re.compile(r"checkpoint-([0-9]{6,})-step-(0|[1-9][0-9]*)")

# Locked during a save. It holds a random id that the folder's manifests repeat: checkpoints that were copied here from
# another folder are read but never removed.
_OWNER = ".checkpoints"
_OWNER_ID = re.compile(r"[0-9a-f]{32}")


class OtherSaves(OpError):
    """Another process saves in the folder."""


class Found(NamedTuple):
    number: int
    step: int
    path: str


class CheckpointFolder:
    """A folder that may not exist yet; write() makes it."""

    def __init__(self, path: str):
        self.path = path

    def write(self, step: int, facts: dict[str, Any], values: Values, keep: int) -> str:
        """Writes a checkpoint, and removes the oldest ones of this folder so that `keep` stay; returns its path."""
        with naming_failures(f"can't save a checkpoint in '{self.path}'"), self._owned() as owner:
            self._remove_hidden(owner)
            path, hidden = self.next_path(step), self._hidden(owner)
            os.mkdir(hidden)
            try:
                write_checkpoint(hidden, {"folder": owner, "number": _number(path), **facts}, values)
                os.rename(hidden, path)
            except BaseException:
                with suppress(OSError):  # the first error is raised; the next save removes the remaining files
                    self._remove_hidden(owner)
                raise
            sync_directory(self.path)
            self._rotate(owner, keep)
        return path

    def prepare(self) -> None:
        """Creates the folder; ProgramError where checkpoints can't be written."""
        with naming_failures(f"can't save a checkpoint in '{self.path}'"):
            os.close(self._open())

    def _open(self) -> int:
        if not os.path.isdir(self.path):
            os.makedirs(self.path)
            sync_directory(os.path.dirname(self.path))
        return open_regular(os.path.join(self.path, _OWNER), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)

    @contextmanager
    def _owned(self) -> Iterator[str]:
        """Creates the folder and locks it for one save; returns its id."""
        descriptor = self._open()
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OtherSaves(f"another process is saving a checkpoint in '{self.path}'") from None
            try:
                owner = os.read(descriptor, 64).decode("ascii", "replace")
                if not _OWNER_ID.fullmatch(owner):  # a new file, or an incomplete one
                    owner = secrets.token_hex(16)
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, owner.encode("ascii"), 0)
                    os.fsync(descriptor)
                yield owner
            finally:
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # else a forked child would keep the lock
        finally:
            os.close(descriptor)

    def next_path(self, step: int) -> str:
        """The path of the next checkpoint."""
        number = 1 + max((int(name[1]) for name in self._names()), default=0)
        return os.path.join(self.path, f"checkpoint-{number:06d}-step-{step}")

    def _hidden(self, owner: str) -> str:
        return os.path.join(self.path, f".checkpoint-{owner}-{secrets.token_hex(8)}")

    def _remove_hidden(self, owner: str) -> None:
        """Removes files of interrupted saves, and folders that _rotate renamed. The caller holds the lock of the
        folder."""
        with os.scandir(self.path) as entries:
            hidden = [entry.path for entry in entries if re.fullmatch(f"\\.checkpoint-{owner}-[0-9a-f]{{16}}", entry.name)]
        for path in filter(_holds_only_our_files, hidden):
            for name in os.listdir(path):
                os.unlink(os.path.join(path, name))
            os.rmdir(path)

    def _rotate(self, owner: str, keep: int) -> None:
        """Renames old checkpoints before it removes them, so that no incomplete one is visible."""
        old = [found.path for found in self.found() if self._is_own(found, owner)][:-keep]
        for path in old:
            os.rename(path, self._hidden(owner))
        if old:
            sync_directory(self.path)
            self._remove_hidden(owner)

    def _is_own(self, found: Found, owner: str) -> bool:
        """Whether this folder's manager wrote it under this name and no file was added."""
        try:
            facts = read_manifest(found.path)
        except ProgramError:
            return False
        return (facts.get("folder"), facts.get("number")) == (owner, found.number) and _holds_only_our_files(found.path)

    def _names(self) -> list[re.Match[str]]:
        with naming_failures(f"can't read '{self.path}'"), suppress(FileNotFoundError):
            return [match for match in map(_NAME.fullmatch, os.listdir(self.path)) if match]
        return []

    def found(self) -> list[Found]:
        """Directories with the name of a checkpoint, in the order they were saved."""
        found = [Found(int(name[1]), int(name[2]), os.path.join(self.path, name[0])) for name in self._names()]
        return sorted(each for each in found if os.path.isdir(each.path) and not os.path.islink(each.path))


def _number(path: str) -> int:
    name = _NAME.fullmatch(os.path.basename(path))
    assert name is not None
    return int(name[1])


def _holds_only_our_files(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path) and FILES.issuperset(os.listdir(path))
