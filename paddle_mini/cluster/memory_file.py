# MemoryFile: memory without a name that processes of one machine have in common.
"""
A process makes a file in memory (memfd_create(2)) and tells others its place; they map the file that /proc shows them. It is
gone when no process has it any more, however they end, and cannot become smaller while it is used. Where /proc does not show
it, as between containers, it can't be opened.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from .frames import ALIGNMENT

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class Place(NamedTuple):
    """File `descriptor` of `process` begins with `mark` and has so many bytes from ALIGNMENT on."""

    process: int
    descriptor: int
    size: int
    mark: bytes


class MemoryFile:
    """memory: its bytes, which can be written to; they are there for as long as one has views of them. hide(): from then on,
    or when this object is no longer used, other processes can't open it."""

    def __init__(self, descriptor: int, place: Place):
        whole = memoryview(mmap.mmap(descriptor, ALIGNMENT + place.size))
        self.hide: Callable[[], Any] = lambda: None
        self.place, self.mark, self.memory = place, whole[: len(place.mark)], whole[ALIGNMENT:]

    @classmethod
    def made(cls, size: int) -> MemoryFile:
        """New memory, of zeros; OSError if there is none, or no descriptor."""
        descriptor = os.memfd_create("paddle_mini", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(descriptor, ALIGNMENT + size)
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
            made = cls(descriptor, Place(os.getpid(), descriptor, size, os.urandom(16)))
            made.mark[:] = made.place.mark
            made.hide = weakref.finalize(made, os.close, descriptor)
            return made
        except BaseException:
            os.close(descriptor)
            raise

    @classmethod
    def opened(cls, place: Place) -> MemoryFile | None:
        """The memory of another process; None if it can't be reached, or could become smaller."""
        descriptor = -1
        try:
            descriptor = os.open(f"/proc/{place.process}/fd/{place.descriptor}", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
            if fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _SEALS != _SEALS:
                return None
            if os.fstat(descriptor).st_size != ALIGNMENT + place.size:
                return None
            found = cls(descriptor, place)
        except (OSError, ValueError):
            return None
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        return found if bytes(found.mark) == place.mark else None  # else another process has this number here
