# LentMemory: memory of a client that its service has too, in which the large arrays of their messages are.
"""
A socket copies what it sends into the kernel and out of it. Processes of one machine need not: a client makes memory
without a name (memfd_create(2)), offers it with a request, and the service maps the file that /proc shows it. It is gone
when neither has it any more, however they end, and cannot become smaller while it is used. Where /proc does not show it,
as between containers, the service does not accept it, and arrays stay in frames.

A connection carries one request at a time. So the part for requests is free when the reply has come: a service must not
use the arrays of a request after its answer, unless the request's class says that it keeps them. Each request lends the part
for replies, unless an array of the last reply still exists.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .errors import Malformed
from .frames import ALIGNMENT, Flag, Kind, Message, Offer, offer_of, pack_frames, room_for, unpack_frames

MOST = 72 << 20
"""Bytes of memory for the arrays of a message: larger ones go in pieces."""
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class _Region:
    """Mapped memory: the mark, and the parts for requests and for replies."""

    def __init__(self, descriptor: int, offer: Offer):
        self.offer = offer
        memory = memoryview(mmap.mmap(descriptor, ALIGNMENT + offer.request + offer.reply))
        self.mark = memory[: len(offer.mark)]
        self.request = memory[ALIGNMENT : ALIGNMENT + offer.request]
        self._reply = memory[ALIGNMENT + offer.request :]

    def reply(self) -> memoryview:
        """The part for replies, as an object that lives as long as the arrays in it."""
        return self._reply[:]


def _made(request: int, reply: int) -> tuple[int, _Region]:
    """New memory, and the descriptor of its file."""
    descriptor = os.memfd_create("paddle_mini", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, ALIGNMENT + request + reply)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        region = _Region(descriptor, Offer(os.getpid(), descriptor, request, reply, os.urandom(16)))
        region.mark[:] = region.offer.mark
        return descriptor, region
    except BaseException:
        os.close(descriptor)
        raise


def _opened(offer: Offer) -> _Region | None:
    """The memory of another process; None if it can't be reached. Malformed if it can become smaller."""
    if offer.request > MOST or offer.reply > MOST:
        raise Malformed(f"memory of {offer.request} and {offer.reply} bytes is offered, {MOST} are the most")
    descriptor = -1
    try:
        descriptor = os.open(f"/proc/{offer.process}/fd/{offer.descriptor}", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        if fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _SEALS != _SEALS:
            return None
        if os.fstat(descriptor).st_size != ALIGNMENT + offer.request + offer.reply:
            return None
        region = _Region(descriptor, offer)
    except (OSError, ValueError):
        return None
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    return region if bytes(region.mark) == offer.mark else None  # else another process has this number here


class LentMemory:
    """The client's side of a connection to a service on its machine: makes the frames of requests, and reads those of
    replies. Memory is made when messages have large arrays, and again when it has become too small."""

    def __init__(self) -> None:
        self._region: _Region | None = None
        self._descriptor = -1  # until the service has mapped the region
        self._is_refused = False
        self._request_needs = self._reply_needs = 0  # the most so far
        self._replied: weakref.ref[memoryview] | None = None  # the part for replies, while arrays are in it
        self._lent: memoryview | None = None

    def pack(self, header: bytes, arrays: Sequence[np.ndarray], patience: float, is_kept: bool, flags: int = 0) -> list[Any]:
        """The frames of a request. is_kept: the service keeps its arrays, which are then not put into the memory."""
        needs, offer = 0 if is_kept else room_for(arrays), None
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
            self._descriptor, self._region = _made(*map(_with_reserve, needs))
            return self._region
        return None

    def unpack(self, head: bytes, frames: Sequence[Any]) -> Message:
        """The reply to the last request."""
        lent, self._lent = self._lent, None
        message = unpack_frames(head, frames, lent)
        if self._descriptor >= 0:
            self._close_descriptor()
            if not message.flags & Flag.OFFER:
                self._is_refused, self._region = True, None
        self._reply_needs = max(self._reply_needs, message.large)
        if message.flags & Flag.IN_MEMORY and lent is not None:
            self._replied = weakref.ref(lent)
        return message

    def _close_descriptor(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def close(self) -> None:
        """The memory stays for as long as arrays are in it."""
        self._close_descriptor()
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
