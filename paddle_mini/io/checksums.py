# CRC-32C of files that are written in pieces.
from __future__ import annotations

from .. import _core


def crc32c(*pieces: bytes) -> int:
    """The checksum of the pieces, one after the other."""
    total = 0
    for piece in pieces:
        total = _core.crc32c(piece, total)
    return total
