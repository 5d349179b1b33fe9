# FlatBuffer: arrays of known shapes in one contiguous buffer for each dtype, divided into equal shares for servers.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..errors import Malformed
from ..wire import DTYPES, Arrays

_WORD = 8
"""Bytes; arrays of a dtype that messages do not support are sent as words."""


class FlatBuffer:
    """views: the arrays, by name, [shape]; those of one dtype are contiguous, in the order of `fields`."""

    def __init__(self, fields: Mapping[str, tuple[np.dtype, Sequence[int]]]):
        sizes = {name: int(np.prod(shape, dtype=np.int64)) for name, (_, shape) in fields.items()}
        self.views: dict[str, np.ndarray] = {}
        self._sent: list[np.ndarray] = []
        for dtype in sorted({dtype for dtype, _ in fields.values()}, key=str):
            names = [name for name in fields if fields[name][0] == dtype]
            count = sum(sizes[name] for name in names)
            words = np.zeros(-(-count * dtype.itemsize // _WORD), "<i8")
            buffer, begin = words.view(dtype)[:count], 0
            for name in names:
                self.views[name] = buffer[begin : begin + sizes[name]].reshape(fields[name][1])
                begin += sizes[name]
            self._sent.append(buffer if dtype in DTYPES else words)

    def share(self, index: int, count: int) -> Arrays:
        """Share `index` of `count`: a view of the elements of each dtype."""
        return [buffer[_cut(len(buffer), index, count) : _cut(len(buffer), index + 1, count)] for buffer in self._sent]

    def set_share(self, index: int, count: int, arrays: Arrays) -> None:
        """Copies the values of a share into the buffer; Malformed if their shapes or dtypes differ."""
        own = self.share(index, count)
        if [(array.dtype, array.shape) for array in arrays] != [(array.dtype, array.shape) for array in own]:
            raise Malformed(f"share {index} of {count} has other sizes here")
        for mine, array in zip(own, arrays):
            np.copyto(mine, array)

    def not_finite(self) -> Iterator[str]:
        """The names of arrays with an element that is infinite or not a number."""
        return (name for name, view in self.views.items() if not np.isfinite(view).all())


def _cut(size: int, index: int, count: int) -> int:
    return size * index // count
