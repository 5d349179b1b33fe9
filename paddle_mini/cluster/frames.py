# Frames: a message on a socket is one frame with its header, shapes and small arrays, and a frame for each large array.
"""
The first frame: kind, patience, number of arrays and length of the header; the dtype and shape of each array; the header;
the small arrays, each of which begins at a multiple of 8 bytes. Integers are little-endian.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from .errors import Malformed
from .wire import DTYPES, HEADER_LIMIT, Arrays

FRAME_LIMIT = 1 << 32
"""Bytes of a frame."""
PATIENCE_LIMIT = 3600.0
SMALL = 1 << 14
"""Bytes from which an array is a frame of its own: then a copy costs more than a frame."""
_DIMENSIONS = 32
_BEGIN, _OF_ARRAY = struct.Struct("<BdII"), struct.Struct("<BB")
_CODES = {dtype: code for code, dtype in enumerate(DTYPES)}


class Kind(IntEnum):
    """GONE: the service does not serve; the header is the reason, as text."""

    REQUEST, REPLY, GONE = 0, 1, 2


class Message(NamedTuple):
    """patience: of requests, as in an Envelope."""

    kind: int
    patience: float
    header: bytes
    arrays: Arrays


def pack_frames(kind: Kind, header: bytes, arrays: Sequence[np.ndarray], patience: float = 0.0) -> list[Any]:
    """The frames of a message: bytes, then large arrays as they are. Malformed for an array of more than FRAME_LIMIT
    bytes."""
    parts: list[Any] = [_BEGIN.pack(kind, patience, len(arrays), len(header))]
    small: Arrays = []
    large: Arrays = []
    for array in arrays:
        if array.nbytes > FRAME_LIMIT:
            raise Malformed(f"an array has {array.nbytes} bytes, {FRAME_LIMIT} are the most in one message: divide it")
        parts.append(struct.pack(f"<BB{array.ndim}Q", _CODES[array.dtype], array.ndim, *array.shape))
        (small if array.nbytes < SMALL else large).append(array)
    parts.append(header)
    if small:
        size = sum(map(len, parts))
        for array in small:
            parts += [bytes(-size % 8), array.tobytes()]
            size += len(parts[-2]) + array.nbytes
    return [b"".join(parts), *large]


def unpack_frames(head: bytes, frames: Sequence[Any]) -> Message:
    """The message; its arrays use the memory of the frames. Malformed for anything that pack_frames() does not make."""
    try:
        kind, patience, count, length = _BEGIN.unpack_from(head)
        if kind > Kind.GONE or not 0 <= patience <= PATIENCE_LIMIT or length > HEADER_LIMIT:
            raise Malformed(f"a message of kind {kind} with {patience:g} s and a header of {length} bytes")
        shapes, at = [], _BEGIN.size
        for _ in range(count):  # ends at the end of the frame
            code, dims = _OF_ARRAY.unpack_from(head, at)
            if code >= len(DTYPES) or dims > _DIMENSIONS:
                raise Malformed(f"an array has dtype {code} and {dims} dimensions")
            shapes.append((DTYPES[code], struct.unpack_from(f"<{dims}Q", head, at + _OF_ARRAY.size)))
            at += _OF_ARRAY.size + 8 * dims
    except struct.error:
        raise Malformed(f"the first frame has {len(head)} bytes, which is too few") from None
    header, at, left, arrays = head[at : at + length], at + length, iter(frames), []
    for dtype, shape in shapes:
        size = math.prod(shape) * dtype.itemsize
        if size < SMALL:
            at += -at % 8
            arrays.append(_array(dtype, shape, head[at : at + size], size))
            at += size
        else:
            arrays.append(_array(dtype, shape, next(left, b""), size))
    if at != len(head) or next(left, None) is not None:
        raise Malformed(f"a message has other bytes than its {count} arrays and its header of {length} bytes")
    return Message(kind, patience, header, arrays)


def _array(dtype: np.dtype, shape: tuple[int, ...], frame: Any, size: int) -> np.ndarray:
    memory = memoryview(frame)
    if memory.nbytes != size:
        raise Malformed(f"an array of {list(shape)} {dtype.str} comes with {memory.nbytes} bytes")
    try:
        array: np.ndarray = np.ndarray(shape, dtype, memory)
    except (ValueError, OverflowError) as error:  # an empty array of impossible dimensions
        raise Malformed(f"an array of {list(shape)} {dtype.str}: {error}") from None
    return array if array.flags.aligned else array.copy()
