# LentMemory: memory of a client that its service has too, in which the large arrays of their messages are.
"""
A socket copies what it sends into the kernel and out of it. Processes of one machine need not: a client makes a file in memory
(memory_file.py) and offers it with a request. Where the service can't open it, it does not accept it, and arrays stay in
frames.

A connection carries one request at a time. So the part for requests is free when the reply has come: a service must not
use the arrays of a request after its answer. Each request lends the part for replies, unless an array of the last reply still
exists.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .errors import Malformed
from .frames import ALIGNMENT, Flag, Kind, Message, Offer, offer_of, pack_frames, room_for, unpack_frames
from .memory_file import MemoryFile, Place

MOST = 72 << 20
"""Bytes of memory for the arrays of a message: larger ones go in pieces."""


class _Region:
    """Memory in common: the parts for requests and for replies."""

    def __init__(self, file: MemoryFile, request: int):
        process, descriptor, size, mark = file.place
        self.offer = Offer(process, descriptor, request, size - request, mark)
        self.request, self._reply = file.memory[:request], file.memory[request:]

    def reply(self) -> memoryview:
        """The part for replies, as an object that lives as long as the arrays in it."""
        return self._reply[:]


def _opened(offer: Offer) -> _Region | None:
    """The memory of another process; None if it can't be reached. Malformed if it is too large."""
    if offer.request > MOST or offer.reply > MOST:
        raise Malformed(f"memory of {offer.request} and {offer.reply} bytes is offered, {MOST} are the most")
    file = MemoryFile.opened(Place(offer.process, offer.descriptor, offer.request + offer.reply, offer.mark))
    return None if file is None else _Region(file, offer.request)


class LentMemory:
    """The client's side of a connection to a service on its machine: makes the frames of requests, and reads those of
    replies. Memory is made when messages have large arrays, and again when it has become too small."""

    def __init__(self) -> None:
        self._region: _Region | None = None
        self._file: MemoryFile | None = None  # the region's, until the service has opened it
        self._is_refused = False
        self._request_needs = self._reply_needs = 0  # the most so far
        self._replied: weakref.ref[memoryview] | None = None  # the part for replies, while arrays are in it
        self._lent: memoryview | None = None

    def pack(self, header: bytes, arrays: Sequence[np.ndarray], patience: float, flags: int = 0) -> list[Any]:
        """The frames of a request."""
        needs, offer = room_for(arrays), None
        region, self._request_needs = self._region, max(needs, self._request_needs)
        if region is None or needs > region.offer.request or self._reply_needs > region.offer.reply:
            region = self._offered()
            needs, self._lent = 0, None
            if region is not None:
                flags, offer, self._lent = flags | Flag.OFFER | Flag.LENDS, region.offer, region.reply()
        elif self._replied is None or self._replied() is None:
            flags |= Flag.LENDS
            self._lent = region.reply()
        memory = region.request if region is not None and needs else None
        return pack_frames(Kind.REQUEST, header, arrays, patience, flags, offer, memory)

    def _offered(self) -> _Region | None:
        """A new region for the messages from now on; None if none is wanted, or none can be had."""
        needs = self._request_needs, self._reply_needs
        if self._is_refused or max(needs) > MOST or not any(needs):
            return None
        with suppress(OSError):  # no memory, or no descriptor: frames need neither
            request, reply = map(_with_reserve, needs)
            self._file = MemoryFile.made(request + reply)
            self._region = _Region(self._file, request)
            return self._region
        return None

    def unpack(self, head: bytes, frames: Sequence[Any]) -> Message:
        """The reply to the last request."""
        lent, self._lent = self._lent, None
        message = unpack_frames(head, frames, lent)
        if self._file is not None:
            self._hide()
            if not message.flags & Flag.OFFER:
                self._is_refused, self._region = True, None
        self._reply_needs = max(self._reply_needs, message.large)
        if message.flags & Flag.IN_MEMORY and lent is not None:
            self._replied = weakref.ref(lent)
        return message

    def _hide(self) -> None:
        if self._file is not None:
            self._file.hide()
            self._file = None

    def close(self) -> None:
        """The memory stays for as long as arrays are in it."""
        self._hide()
        self._region = self._lent = None


class BorrowedMemory:
    """The service's side of a connection."""

    def __init__(self) -> None:
        self._region: _Region | None = None
        self._flags = 0

    def unpack(self, head: bytes, frames: Sequence[Any]) -> Message:
        """A request."""
        self._flags = 0
        offer = offer_of(head)
        if offer is not None:
            self._region = _opened(offer)
        message = unpack_frames(head, frames, self._region.request if self._region is not None and offer is None else None)
        self._flags = message.flags if self._region is not None else 0
        return message

    def pack(self, kind: Kind, header: bytes, arrays: Sequence[np.ndarray], flags: int = 0) -> list[Any]:
        """The frames of the reply to the last request."""
        needs, memory = room_for(arrays), self.for_reply()
        if memory is not None and not 0 < needs <= len(memory):
            memory = None
        return pack_frames(kind, header, arrays, 0.0, flags | self._flags & Flag.OFFER, None, memory)

    def for_reply(self) -> memoryview | None:
        """The memory for the arrays of the reply to the last request, if that lends some."""
        return self._region.reply() if self._region is not None and self._flags & Flag.LENDS else None


def _with_reserve(size: int) -> int:
    """More than is needed now: the next message may name more rows."""
    more = size + size // 4
    return min(MOST, more + -more % ALIGNMENT)
