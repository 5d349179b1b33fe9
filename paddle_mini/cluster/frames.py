# Frames: a message on a socket is one frame with its header, shapes and small arrays, and a frame for each large array.
"""
The first frame, without gaps: u8 kind, u8 flags, f64 patience, u32 number of arrays, u32 length of the header; 40 bytes of
an offer, if there is one; u8 dtype, u8 dimensions and u64 for each dimension of each array; the header; the small arrays,
each of which begins at a multiple of 8 bytes. Integers are little-endian; dtypes are those of wire.DTYPES, by number.

Processes of one machine have memory in common (lent_memory.py): then large arrays are there in place of in frames, each
at a multiple of ALIGNMENT bytes, in their order. python/frames.cc implements both.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .errors import Malformed
from .wire import Arrays

FRAME_LIMIT: int = _core.FRAME_LIMIT
"""Bytes of a frame."""
PATIENCE_LIMIT: float = _core.PATIENCE_LIMIT
SMALL: int = _core.SMALL_ARRAY
"""Bytes from which an array is a frame of its own: then a copy costs more than a frame."""
ALIGNMENT: int = _core.FRAME_ALIGNMENT
_BEGIN = 18
_OFFER = struct.Struct("<IIQQ16s")


class Kind(IntEnum):
    """GONE: the service does not serve; the header is the reason, as text."""

    REQUEST, REPLY, GONE = 0, 1, 2


class Flag:
    """IN_MEMORY: the large arrays are in the memory in common. OFFER: a request brings an Offer, which its reply, with
    this flag, accepts. LENDS: the reply may be put into the memory.
    Of messages in pieces (cut_messages.py): PIECE: this is one, and with MORE not the last of a reply; IN_PIECES: the
    arrays of this message come in pieces; NEXT: asks for a piece of the reply."""

    IN_MEMORY, OFFER, LENDS, PIECE, MORE, IN_PIECES, NEXT = 1, 2, 4, 8, 16, 32, 64


class Offer(NamedTuple):
    """Memory that a process has made: file `descriptor` of `process` has so many bytes for requests, then for replies,
    and begins with `mark`."""

    process: int
    descriptor: int
    request: int
    reply: int
    mark: bytes


class Message(NamedTuple):
    """patience: of requests, as in an Envelope. large: bytes of its large arrays, as room_for() counts them."""

    kind: int
    patience: float
    header: bytes
    arrays: Arrays
    flags: int = 0
    large: int = 0


def room_for(arrays: Sequence[np.ndarray]) -> int:
    """Bytes of memory for the large ones of these arrays."""
    return sum([size + -size % ALIGNMENT for array in arrays if (size := array.nbytes) >= SMALL])


def pack_frames(
    kind: int,
    header: bytes,
    arrays: Sequence[np.ndarray],
    patience: float = 0.0,
    flags: int = 0,
    offer: Offer | None = None,
    memory: memoryview | None = None,
) -> list[Any]:
    """The frames of a message: bytes, then large arrays as they are, unless they are copied to `memory`, which has
    room_for() them. Malformed for an array of more than FRAME_LIMIT bytes, and for what messages don't support."""
    try:
        return _core.pack_frames(kind, header, arrays, patience, flags, _OFFER.pack(*offer) if offer else b"", memory)
    except _core.ProgramError as error:
        raise Malformed(str(error)) from None


def offer_of(head: bytes) -> Offer | None:
    """The offer in the first frame of a message; Malformed for a frame that is too short."""
    if len(head) < 2 or not head[1] & Flag.OFFER or head[0] != Kind.REQUEST:
        return None
    if len(head) < _BEGIN + _OFFER.size:
        raise Malformed(f"the first frame has {len(head)} bytes, which is too few")
    return Offer(*_OFFER.unpack_from(head, _BEGIN))


def unpack_frames(head: bytes, frames: Sequence[Any], memory: memoryview | None = None) -> Message:
    """The message; its arrays, which can't be written to, use the memory of the frames, or `memory`. Malformed for anything
    that pack_frames() does not make."""
    try:
        return Message(*_core.unpack_frames(head, frames, memory))
    except _core.ProgramError as error:
        raise Malformed(str(error)) from None
