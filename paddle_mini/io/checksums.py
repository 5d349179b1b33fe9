# CRC-32C inside files of states, where other readers of the format look past it.
from __future__ import annotations

from .. import _core
from .._core import ProgramError


def is_marked(data: memoryview, place: int, mark: bytes) -> bool:
    """Whether a checksum of paddle_mini begins at this place. A mark in which a few bits differ is a ProgramError: a file
    with a damaged mark would otherwise be read as one without a checksum."""
    found = data[place : place + len(mark)]
    if found == mark:
        return True
    if len(found) == len(mark) and sum(bin(a ^ b).count("1") for a, b in zip(found, mark)) <= len(mark):
        raise ProgramError("it is damaged where its checksum begins")
    return False


def require_whole(expected: int | None, found: int) -> None:
    """ProgramError when the checksums differ."""
    if expected != found:
        raise ProgramError("it is cut off or damaged: its checksum does not match")


def crc32c(*pieces: bytes) -> int:
    """The checksum of the pieces, one after the other."""
    total = 0
    for piece in pieces:
        total = _core.crc32c(piece, total)
    return total
