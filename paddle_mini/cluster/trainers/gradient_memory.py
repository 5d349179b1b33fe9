# GradientMemory: a trainer's gradient and the mean of all trainers', in memory that trainers of its machine can read.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..memory_file import MemoryFile, Place
from .flat_buffer import Fields, FlatBuffer, bytes_of

_HEAD = 64


class Numbered:
    """buffer: a FlatBuffer with a serial number beside it, which changes when its values do, and is 0 meanwhile. What another
    process has read of them is intact if the serial number is the same before and after."""

    def __init__(self, buffer: FlatBuffer, serial: np.ndarray):
        self.buffer, self._serial = buffer, serial
        self._last = 0

    @property
    def serial(self) -> int:
        return int(self._serial[0])

    @contextmanager
    def changing(self) -> Iterator[FlatBuffer]:
        """Inside, its trainer changes the buffer. If that raises, the number stays 0."""
        self._serial[0] = 0
        yield self.buffer
        self._last += 1
        self._serial[0] = self._last


class GradientMemory:
    """gradient: of this trainer; mean: of all. place: where other processes find the memory; None if they can't read it."""

    def __init__(self, fields: Fields, memory: memoryview, file: MemoryFile | None):
        self._file, self.place = file, None if file is None else file.place
        size, serials = bytes_of(fields), np.frombuffer(memory[:16], "<i8")
        self.gradient = Numbered(FlatBuffer(fields, memory[_HEAD : _HEAD + size]), serials[:1])
        self.mean = Numbered(FlatBuffer(fields, memory[_HEAD + size : _HEAD + 2 * size]), serials[1:])

    @classmethod
    def made(cls, fields: Fields) -> GradientMemory:
        size = _HEAD + 2 * bytes_of(fields)
        try:
            file = MemoryFile.made(size)
            return cls(fields, file.memory, file)
        except OSError:  # then others get copies
            return cls(fields, memoryview(bytearray(size)), None)

    @classmethod
    def opened(cls, fields: Fields, place: Place) -> GradientMemory | None:
        """That of another trainer; None if it can't be read here."""
        if place.size != _HEAD + 2 * bytes_of(fields):
            return None
        file = MemoryFile.opened(place)
        return None if file is None else cls(fields, file.memory, file)
