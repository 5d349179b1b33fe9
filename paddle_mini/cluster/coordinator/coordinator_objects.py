# CoordinatorObjects: the files of a coordinator in an object store, where nothing can be appended.
"""
    coordinator.json        as the file
    coordinator.N.log.K     the parts of a log, from 0: what one sync() made durable

The files are in a local folder too, which is new for each process: what the store has counts.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import StorageError
from ..object_store import ObjectStore, own_folder
from .coordinator_file import NAME, CoordinatorFiles, Stored, damaged, read_state

_PART = re.compile(r"coordinator\.([0-9]+)\.log\.([0-9]+)")


class CoordinatorObjects(CoordinatorFiles):
    """Like CoordinatorFiles, with url in place of the directory. stored: what read_state() finds there; raises its errors."""

    def __init__(self, url: str, job: str):
        self._store = ObjectStore(url)
        folder = own_folder(self)
        with self._writing():
            self._fetch(folder)
        try:
            self.stored: Stored | None = read_state(folder, job)
        except StorageError as error:
            raise StorageError(f"{error} (copied from '{url}')") from None
        super().__init__(folder, job, self.stored.number if self.stored is not None else 0)
        self._sent = self._parts = 0

    def snapshot(self, state: dict[str, Any]) -> None:
        super().snapshot(state)
        self._sent = self._parts = 0
        self.needs_snapshot = True
        with self._writing():
            self._send()
            with open(os.path.join(self._directory, NAME), "rb") as file:
                self._store.write(NAME, file.read())
            for name in self._store.names():
                if (match := _PART.fullmatch(name)) and int(match[1]) != self._number:
                    self._store.remove(name)
        self.needs_snapshot = False

    def sync(self) -> None:
        if self._sent == self._end:
            return
        try:
            with self._writing():
                self._send()
        except StorageError:
            self.needs_snapshot = True  # it is not known whether the part is there
            raise

    def _send(self) -> None:
        """Writes what the store has not got of the log as its next part."""
        assert self._descriptor is not None
        data = os.pread(self._descriptor, self._end - self._sent, self._sent)
        self._store.write(f"coordinator.{self._number}.log.{self._parts}", data)
        self._sent, self._parts = self._end, self._parts + 1

    def _fetch(self, folder: str) -> None:
        names = self._store.names()
        if NAME not in names:
            return
        data = self._store.read(NAME)
        with open(os.path.join(folder, NAME), "wb") as file:
            file.write(data)
        try:
            number = json.loads(data)["coordinator"].get("log", 0)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return  # read_state() says what is wrong
        parts = sorted(int(match[2]) for name in names if (match := _PART.fullmatch(name)) and match[1] == str(number))
        if parts != list(range(len(parts))):
            raise damaged(f"{self._store.url}/{NAME}")
        if parts:
            with open(os.path.join(folder, f"coordinator.{number}.log"), "wb") as file:
                for part in parts:
                    file.write(self._store.read(f"coordinator.{number}.log.{part}"))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(f"can't use '{self._store.url}': {error.strerror or error}") from None
