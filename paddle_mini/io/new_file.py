# NewFile: writes a file of a checkpoint in pieces, with its checksum.
from __future__ import annotations

import os
from typing import Any

from .. import _core

CHUNK = 1 << 20  # stays in the cache from the copy to the checksum


class NewFile:
    """A file that was not there; its bytes are on the disk when the `with` block ends."""

    def __init__(self, folder: str, name: str, checksum: Any):
        """checksum: an object of hashlib, or like it."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._descriptor = os.open(os.path.join(folder, name), flags, 0o666)
        self._bytes, self._sum = 0, checksum

    def write(self, data: bytes | memoryview) -> int:
        rest = memoryview(data)
        while rest:
            written = os.write(self._descriptor, rest[:CHUNK])
            _core.begin_writing(self._descriptor, self._bytes, written)
            self._sum.update(rest[:written])
            self._bytes += written
            rest = rest[written:]
        return len(data)

    def facts(self) -> dict[str, Any]:
        return {"bytes": self._bytes, self._sum.name: self._sum.hexdigest()}

    def __enter__(self) -> NewFile:
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        try:
            if kind is None:
                os.fsync(self._descriptor)
        finally:
            os.close(self._descriptor)
