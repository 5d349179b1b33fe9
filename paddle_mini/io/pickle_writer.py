# Writes pickled states (.pdparams, .pdopt), and what PaddlePaddle's jit.save keeps of parameters, operation by operation.
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._core import ProgramError
from .checksums import crc32c

# In front of a state: cpp/program/pickle.h.
MARK_OF_CHECKSUM, POP = b"\x80\x04C\x0epm-crc32c:", b"0"
# The operations of an array without dimensions, each of which adds one; cpp/program/pickle.cc reads at most so many of a file.
_OF_ARRAY, _MOST_OPERATIONS = 36, 4_000_000


def state_pickle(state: dict[str, np.ndarray]) -> bytes:
    """A dict of arrays, pickled with protocol 4 so that PaddlePaddle loads it with NumPy 1 or 2."""
    return b"".join(state_pieces(state))


def state_pieces(state: dict[str, np.ndarray]) -> list[Any]:
    """The bytes of state_pickle() in pieces, one after the other; those of arrays are where they are."""
    operations = sum(_OF_ARRAY + array.ndim for array in state.values())
    if operations + 8 > _MOST_OPERATIONS:  # 8 are around the arrays
        raise ProgramError(
            f"the state has {len(state)} arrays, too many for a pickled file, which holds about 100000; save it in several "
            "files, or as .safetensors"
        )
    parts: list[Any] = [POP + b"}("]  # a dict, the items
    size = len(MARK_OF_CHECKSUM) + 4 + len(parts[0])
    for name, array in state.items():
        front = _front(name, array)
        length = b"\x89\x8e" + array.nbytes.to_bytes(8, "little")
        padding = _padding(size + len(front) + len(length))
        item = [front + padding + length, array.reshape(-1).view("uint8"), b"tb"]
        parts += item
        size += sum(map(len, item))
    parts.append(b"u.")
    return [MARK_OF_CHECKSUM, crc32c(*parts).to_bytes(4, "little"), *parts]


def _front(name: str, array: np.ndarray) -> bytes:
    """An item of the dict up to the elements: its key, NumPy's function and the state of the array, which begins with version,
    shape and element type."""
    text, kind = name.encode(), array.dtype.str
    return b"".join(
        [
            b"X",
            len(text).to_bytes(4, "little"),
            text,
            b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01btR",
            b"(K\x01(",
            *(b"\x8a\x08" + dim.to_bytes(8, "little") for dim in array.shape),
            b"t",
            b"cnumpy\ndtype\nX",
            (len(kind) - 1).to_bytes(4, "little"),
            kind[1:].encode(),
            b"\x89\x88\x87R",
            b"(K\x03X\x01\0\0\0",
            kind[:1].encode(),
            b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
        ]
    )


def _padding(size: int) -> bytes:
    """A constant that is taken off the stack again: a multiple of 64 bytes is in front of elements that follow so many bytes and
    this, so that a reader can leave them where they are."""
    fill = -(size + 3) % 64
    return b"C" + bytes([fill]) + bytes(fill) + POP


def info_pickle(entries: Mapping[str, Mapping[str, Any]]) -> bytes:
    """A dict of dicts of strings and bools, pickled with protocol 2."""
    parts = [b"\x80\x02}("]
    for name, entry in entries.items():
        parts += [_text(name), b"}("]
        for key, value in entry.items():
            parts += [_text(key), _text(value) if isinstance(value, str) else b"\x88" if value else b"\x89"]
        parts.append(b"u")
    return b"".join([*parts, b"u."])


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")  # as pickles hold it
    return b"X" + len(data).to_bytes(4, "little") + data
