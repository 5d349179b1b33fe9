# CRC-32C of files that are written in pieces.
from __future__ import annotations

from typing import Any

from .. import _core


class Crc32c:
    """Like an object of hashlib."""

    name = "crc32c"

    def __init__(self) -> None:
        self._sum = 0

    def update(self, data: Any) -> None:
        self._sum = _core.crc32c(data, self._sum)

    def hexdigest(self) -> str:
        return f"{self._sum:08x}"


def crc32c(*pieces: Any) -> int:
    """The checksum of the pieces, one after the other."""
    total = 0
    for piece in pieces:
        total = _core.crc32c(piece, total)
    return total
