# Messages of more than PIECE_BYTES go through sockets in pieces, between which a service answers other requests.
"""
A request sends its pieces ahead, and then itself without arrays (Flag.IN_PIECES). The sender of a request whose reply is in
pieces asks for each of them (Flag.NEXT), so that no more than one waits for it. A piece has parts of the arrays, as flat
arrays; its header is the JSON list of [number of the array, first element, shape of the array] of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from .errors import Malformed
from .wire import Arrays, pack, unpack_list

PIECE_BYTES = 64 << 20
"""Bytes of the arrays of one message."""
MOST_BYTES = 1 << 36
"""Bytes of a message in pieces."""
_DIMENSIONS = 32


def is_large(arrays: Sequence[np.ndarray]) -> bool:
    """Whether a message with these arrays goes in pieces."""
    return sum([array.nbytes for array in arrays]) > PIECE_BYTES


def cut(arrays: Sequence[np.ndarray]) -> Iterator[tuple[bytes, Arrays]]:
    """The header and the arrays of each piece."""
    about: list[tuple[int, int, tuple[int, ...]]] = []
    parts: Arrays = []
    left = PIECE_BYTES
    for number, array in enumerate(arrays):
        flat, begin = array.reshape(-1), 0
        while begin < flat.size or not flat.size:
            end = min(flat.size, begin + left // array.itemsize)
            if end > begin or not flat.size:
                about.append((number, begin, array.shape))
                parts.append(flat[begin:end])
                left -= parts[-1].nbytes
            if end == flat.size:
                break
            begin = end
            yield pack(about), parts
            about, parts, left = [], [], PIECE_BYTES
    yield pack(about), parts


class Collected:
    """The arrays of a message whose pieces arrive."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._arrays: Arrays = []
        self._filled = self._bytes = 0  # elements of the last array; bytes of all
        self._problem = ""

    def add(self, header: bytes, parts: Sequence[np.ndarray]) -> None:
        """The next piece. What does not fit is an error of taken()."""
        if self._problem:
            return
        try:
            about = unpack_list(header)
            if len(about) != len(parts):
                raise Malformed(f"{len(about)} parts of arrays come as {len(parts)}")
            for facts, part in zip(about, parts):
                self._put(facts, part)
        except (Malformed, MemoryError) as error:
            self._clear()
            self._problem = str(error) or "out of memory"

    def _put(self, facts: object, part: np.ndarray) -> None:
        if not isinstance(facts, list) or len(facts) != 3 or not isinstance(facts[2], list):
            raise Malformed("a part of an array is not described by its number, first element and shape")
        number, begin, shape = facts
        if not all(type(one) is int and 0 <= one < 1 << 48 for one in (number, begin, *shape)) or len(shape) > _DIMENSIONS:
            raise Malformed("the number, first element or shape of a part of an array is not possible")
        if number == len(self._arrays) and self._is_full():
            self._bytes += prod(shape) * part.itemsize
            if self._bytes > MOST_BYTES:
                raise Malformed(f"a message in pieces has {self._bytes} bytes, {MOST_BYTES} are the most")
            self._arrays.append(np.empty(shape, part.dtype))
            self._filled = 0
        array = self._arrays[-1] if self._arrays else part
        fits = number == len(self._arrays) - 1 and begin == self._filled and part.dtype == array.dtype
        if not fits or part.ndim != 1 or begin + part.size > array.size or list(array.shape) != shape:
            raise Malformed(f"a part of array {number} from element {begin} does not follow the parts before")
        array.reshape(-1)[begin : begin + part.size] = part
        self._filled += part.size

    def _is_full(self) -> bool:
        return not self._arrays or self._filled == self._arrays[-1].size

    def taken(self) -> Arrays:
        """All arrays, when all pieces have arrived; Malformed."""
        arrays, problem, is_full = self._arrays, self._problem, self._is_full()
        self._clear()
        if problem or not is_full:
            raise Malformed(problem or "a message ends before its pieces")
        return arrays
