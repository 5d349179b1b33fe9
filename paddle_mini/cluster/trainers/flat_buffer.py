# FlatBuffer: arrays of known shapes in one contiguous buffer for each dtype, divided into equal shares.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..errors import Malformed
from ..wire import DTYPES, Arrays

_WORD = 8
"""Bytes; arrays of a dtype that messages do not support are sent as words."""
_LINE = 64
"""Buffers begin at multiples of so many bytes."""
_PIECE = 1 << 15
"""Elements of each array that are added up before the next ones: their sum stays in the cache until it is divided."""

Fields = Mapping[str, tuple[np.dtype, Sequence[int]]]


class FlatBuffer:
    """views: the arrays, by name, [shape]; those of one dtype are contiguous, in the order of `fields`. memory: for them,
    bytes_of(fields) many; None: new memory, of zeros."""

    def __init__(self, fields: Fields, memory: memoryview | None = None):
        whole = np.zeros(bytes_of(fields), "u1") if memory is None else np.frombuffer(memory, "u1")
        self.views: dict[str, np.ndarray] = {}
        self._sent: list[np.ndarray] = []
        place = 0
        for dtype, sizes in _by_dtype(fields):
            count = sum(sizes.values())
            words = whole[place : place + -(-count * dtype.itemsize // _WORD) * _WORD].view("<i8")
            place += _rounded(words.nbytes)
            buffer, begin = words.view(dtype)[:count], 0
            for name, size in sizes.items():
                self.views[name] = buffer[begin : begin + size].reshape(fields[name][1])
                begin += size
            self._sent.append(buffer if dtype in DTYPES else words)

    def share(self, index: int, count: int) -> Arrays:
        """Share `index` of `count`: a view of the elements of each dtype."""
        return [buffer[_cut(len(buffer), index, count) : _cut(len(buffer), index + 1, count)] for buffer in self._sent]

    def set_share(self, index: int, count: int, arrays: Arrays) -> None:
        """Copies the values of a share into the buffer; Malformed if their shapes or dtypes differ."""
        for mine, array in zip(self.share(index, count), self.checked(index, count, arrays)):
            np.copyto(mine, array)

    def set_mean(self, index: int, count: int, parts: Sequence[Arrays]) -> None:
        """Sets a share to the mean of these, which is the sum in their order, divided by their number; Malformed as for
        set_share()."""
        for arrays in parts:
            self.checked(index, count, arrays)
        for to, *arrays in zip(self.share(index, count), *parts):
            for begin in range(0, to.size, _PIECE):
                first, *others = (array[begin : begin + _PIECE] for array in arrays)
                total = to[begin : begin + _PIECE]
                if not others:
                    np.copyto(total, first)
                for other in others:
                    first = np.add(first, other, out=total)
                np.divide(total, len(parts), out=total)

    def checked(self, index: int, count: int, arrays: Arrays) -> Arrays:
        """The arrays; Malformed if they have not the shapes and dtypes of this share."""
        own = self.share(index, count)
        if [(array.dtype, array.shape) for array in arrays] != [(array.dtype, array.shape) for array in own]:
            raise Malformed(f"share {index} of {count} has other sizes here")
        return arrays

    def not_finite(self) -> Iterator[str]:
        """The names of arrays with an element that is infinite or not a number."""
        return (name for name, view in self.views.items() if not np.isfinite(view).all())


def bytes_of(fields: Fields) -> int:
    """The size of a FlatBuffer's memory."""
    return sum(_rounded(sum(sizes.values()) * dtype.itemsize) for dtype, sizes in _by_dtype(fields))


def _by_dtype(fields: Fields) -> Iterator[tuple[np.dtype, dict[str, int]]]:
    """The numbers of elements, by name, of the arrays of each dtype."""
    for dtype in sorted({dtype for dtype, _ in fields.values()}, key=str):
        yield dtype, {name: int(np.prod(shape, dtype=np.int64)) for name, (one, shape) in fields.items() if one == dtype}


def _rounded(size: int) -> int:
    return size + -size % _LINE


def _cut(size: int, index: int, count: int) -> int:
    return size * index // count
