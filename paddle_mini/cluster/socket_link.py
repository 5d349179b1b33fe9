# SocketLink: the connections of a process to the sockets of services.
from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import zmq

from ..errors import shown
from .cut_messages import Collected, cut, is_large
from .engine import Answer, Envelope, Service, TrainerLink
from .errors import ClusterError, Gone, Malformed, Timeout
from .frames import Flag, Kind, Message, pack_frames, unpack_frames
from .lent_memory import LentMemory
from .messages import encode_error
from .service_socket import Address, Keys, ServiceSocket, set_limits, try_to_send
from .wire import Arrays, check_arrays

CONNECT = 5.0
"""Seconds for a machine to accept a connection."""
LOOK = 0.05
"""Seconds between two looks whether the connection has ended."""
_ENDS = (
    zmq.EVENT_CLOSED
    | zmq.EVENT_DISCONNECTED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)


class SocketLink(TrainerLink):
    """machine: of this process. find(service): its present address, or None while it does not run; known: addresses that
    need not be looked for. listen(name): a socket for a service of this process. May be used by several threads at a time.

    A connection carries one request at a time, and is closed when its reply does not arrive: no reply belongs to an
    earlier request, and a restarted service is looked for again. Arrays are sent from where they are: they must not
    change before send() returns."""

    def __init__(
        self,
        keys: Keys,
        machine: str,
        find: Callable[[str], Address | None],
        known: Mapping[str, Address] | None = None,
        listen: Callable[[str], ServiceSocket] | None = None,
    ):
        self._keys, self._machine, self._find, self._listen = keys, machine, find, listen
        self._known = dict(known or {})
        self._learned: dict[str, Address] = {}
        self._context = zmq.Context()
        self._context.set(zmq.MAX_SOCKETS, self._context.get(zmq.SOCKET_LIMIT))
        self._free: dict[str, list[_Connection]] = {}

    def send(self, requests: Sequence[Envelope], timeout: float) -> list[Answer]:
        end = time.monotonic() + timeout
        open_ones: list[_Connection | Answer] = []
        answers: list[Answer] = []
        try:
            for request in requests:
                open_ones.append(self._begin(request, end))
            for number, (request, one) in enumerate(zip(requests, open_ones)):
                answer = one.answer(end, timeout) if isinstance(one, _Connection) else one
                if isinstance(answer, Gone):
                    self._forget(request.service)
                elif isinstance(one, _Connection) and not isinstance(answer, ClusterError):
                    self._free.setdefault(request.service, []).append(one)
                    open_ones[number] = answer
                answers.append(answer)
            return answers
        finally:
            for one in open_ones:
                if isinstance(one, _Connection):
                    one.close()

    def serve(self, name: str, service: Service) -> str:
        assert self._listen is not None
        socket = self._listen(name)
        threading.Thread(target=_serve, args=(socket, service, name), name=f"{name} requests", daemon=True).start()
        self._learned[name] = socket.address
        return "\t".join(socket.address)

    def learn(self, name: str, address: str) -> None:
        parts = address.split("\t")
        if len(parts) != len(Address._fields):
            raise Malformed(f"{shown(address)} is not the address of {name}")
        self._forget(name)
        self._learned[name] = Address(*parts)

    def close(self) -> None:
        """Closes all connections. No thread may be in send()."""
        self._context.destroy(linger=0)
        self._free.clear()

    def _begin(self, request: Envelope, end: float) -> _Connection | Answer:
        """The connection on which the request was sent, or the answer."""
        try:
            arrays = check_arrays(request.arrays)
        except ClusterError as error:  # as the service would reply
            return encode_error(error.kind, str(error))
        free = self._free.get(request.service)
        try:
            connection = free.pop() if free else None
        except IndexError:  # another thread was faster
            connection = None
        if connection is None:
            address = self._address_of(request.service)
            if address is None:
                return Gone("it does not run")
            self._known[request.service] = address
            connection = _Connection(self._context, self._keys, self._machine, address)
        try:
            connection.post(request, arrays, end)
        except ClusterError as error:
            connection.close()
            return encode_error(error.kind, str(error))
        except BaseException:
            connection.close()
            raise
        return connection

    def _address_of(self, service: str) -> Address | None:
        return self._known.get(service) or self._learned.get(service) or self._find(service)

    def _forget(self, service: str) -> None:
        """Closes the idle connections to a service, which is looked for again."""
        self._known.pop(service, None)
        for connection in self._free.pop(service, []):
            connection.close()


def _serve(socket: ServiceSocket, service: Service, name: str) -> None:
    try:
        socket.serve(service.take, service.tick, lambda: False)
    except BaseException:  # the process is started again; without this thread it would be silent forever
        logging.getLogger(__name__).exception("the requests to %s end", name)
        os._exit(1)


class _Connection:
    """One socket to one service."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], keys: Keys, machine: str, address: Address):
        self._socket = context.socket(zmq.DEALER)
        set_limits(self._socket)
        self._wait = -1  # rcvtimeo
        self._socket.reconnect_ivl = -1  # its successor may have another address
        self._socket.connect_timeout = round(1000 * CONNECT)
        self._monitor = self._socket.get_monitor_socket(_ENDS)
        self._memory: LentMemory | None = None
        if address.local and address.machine == machine:
            self._memory = LentMemory()
            self._socket.connect(address.local)
        else:
            self._socket.curve_serverkey = keys.server
            self._socket.curve_publickey, self._socket.curve_secretkey = keys.client, keys.client_secret
            self._socket.ipv6 = "[" in address.remote
            self._socket.connect(address.remote)

    def post(self, request: Envelope, arrays: Arrays, end: float) -> None:
        """Sends a request. What does not go into the queue at once, of a request in pieces, goes until `end`."""
        self._is_sent, flags = True, 0
        if is_large(arrays):
            for header, parts in cut(arrays):
                self._is_sent = self._is_sent and self._pushed(pack_frames(Kind.REQUEST, header, parts, 0.0, Flag.PIECE), end)
            arrays, flags = [], Flag.IN_PIECES
        if self._memory is None:
            frames = pack_frames(Kind.REQUEST, request.header, arrays, request.patience, flags)
        else:
            frames = self._memory.pack(request.header, arrays, request.patience, flags)
        self._is_sent = self._is_sent and self._pushed(frames, end if flags else 0.0)

    def _pushed(self, frames: list[Any], end: float) -> bool:
        """Whether a message is sent, or waits behind others that are."""
        while not try_to_send(self._socket, frames, copy=len(frames) == 1):
            if time.monotonic() >= end or self._monitor.poll(0):
                return False
            self._socket.poll(round(1000 * LOOK), zmq.POLLOUT)
        return True

    def answer(self, end: float, timeout: float) -> Answer:
        """The answer to what post() has sent: Gone when the connection ends before. A reply in pieces may take `timeout` for
        each."""
        try:
            message = self._message(end, timeout, unpack_frames if self._memory is None else self._memory.unpack)
            if isinstance(message, ClusterError):
                return message
            if message.kind != Kind.REPLY:
                return Gone(message.header.decode("utf-8", "replace"))
            if not message.flags & Flag.IN_PIECES:
                return message.header, message.arrays
            collected, goes_on = Collected(), True
            while goes_on:
                end = time.monotonic() + timeout
                self._is_sent = self._pushed(pack_frames(Kind.REQUEST, b"", [], 0.0, Flag.NEXT), end)
                piece = self._message(end, timeout, unpack_frames)
                if isinstance(piece, ClusterError):
                    return piece
                collected.add(piece.header, piece.arrays)
                goes_on = bool(piece.flags & Flag.MORE)
            return message.header, collected.taken()
        except ClusterError as error:
            return error

    def _message(self, end: float, timeout: float, unpack: Callable[..., Message]) -> Message | ClusterError:
        frames = None
        while self._is_sent and frames is None:
            frames = self._received(end)
            if frames is None and self._monitor.poll(0):
                frames = self._received(0.0)  # a reply may have arrived before the end of its connection
                break
            if frames is None and time.monotonic() >= end:
                return Timeout(f"no reply in {timeout:g} s")
        if frames is None:
            return Gone("the connection has ended, or could not be made")
        return unpack(frames[0].bytes, frames[1:])

    def _received(self, end: float) -> list[zmq.Frame] | None:
        """The frames of a message; None if there is none until the next look at the connection, or until `end`."""
        wait = round(1000 * min(LOOK, max(0.0, end - time.monotonic())))
        if wait != self._wait:
            self._socket.rcvtimeo = self._wait = wait
        try:
            frames = [self._socket.recv(copy=False)]
            while frames[-1].more:
                frames.append(self._socket.recv(copy=False))
            return frames
        except zmq.Again:
            return None

    def close(self) -> None:
        self._socket.disable_monitor()
        self._monitor.close()
        self._socket.close()
        if self._memory is not None:
            self._memory.close()
