# ServiceSocket: the socket on which a service receives requests and sends replies; refuses processes without the job's keys.
"""
A service has two addresses. Processes of its machine use a socket in a folder that only this user can enter. Others use
TCP with CURVE (curvezmq.org): both sides prove that they have their keys, and everything after the handshake is
encrypted and authenticated.
"""

from __future__ import annotations

import os
import socket
import stat
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import zmq
from zmq.utils import z85
from zmq.utils.monitor import parse_monitor_message

from .cut_messages import Collected, cut, is_large
from .engine import Answer, Batching, Respond
from .errors import ClusterError, Malformed, StorageError
from .frames import FRAME_LIMIT, Flag, Kind, pack_frames
from .lent_memory import BorrowedMemory
from .messages import encode_error
from .process_log import ProcessLogger
from .wire import Arrays

HANDSHAKE = 10.0
"""Seconds for a new connection to prove that it has the keys."""
QUEUED = 8
"""Messages that wait on a connection; further ones wait at the sender."""
SILENCE, PROBES = 3, 3
"""The kernel asks a silent machine every so many seconds whether it is there, and closes the connection after so many
questions without an answer."""
TICK = 0.1
"""Seconds from one tick of a service to the next."""
_AT_ONCE, _MORE_AT_ONCE, _ARRIVED = int(zmq.NOBLOCK), int(zmq.NOBLOCK | zmq.SNDMORE), int(zmq.POLLIN)
_ORIGINS = 1000
_PATH_LIMIT = 100
"""Characters of the path of a socket."""
_log = ProcessLogger(__name__)

Take = Callable[[bytes, Sequence[Any], Respond, float, memoryview | None], None]


class Keys(NamedTuple):
    """A job's public and secret keys: of all its services, and of all processes that send them requests."""

    server: bytes
    server_secret: bytes
    client: bytes
    client_secret: bytes

    @classmethod
    def new(cls) -> Keys:
        return cls(*zmq.curve_keypair(), *zmq.curve_keypair())


class Address(NamedTuple):
    """Where a service listens. machine: on which `local`, which may be empty, can be used."""

    machine: str
    local: str
    remote: str


def local_folder(job: str) -> str:
    """The folder of a job's local sockets on this machine; only this user can enter it. job: a unique text. StorageError
    if another user has made it."""
    folder = os.path.join(tempfile.gettempdir(), f"paddle_mini_{job}")
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    facts = os.lstat(folder)
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or stat.S_IMODE(facts.st_mode) != 0o700:
        raise StorageError(f"'{folder}' is not a folder of this user alone")
    return folder


def set_limits(one: zmq.Socket[bytes]) -> None:
    """Sets the options that hold at both ends of a connection."""
    one.linger = 0
    one.maxmsgsize = FRAME_LIMIT
    one.sndhwm = one.rcvhwm = QUEUED
    one.handshake_ivl = round(1000 * HANDSHAKE)
    one.tcp_keepalive, one.tcp_keepalive_idle, one.tcp_keepalive_intvl, one.tcp_keepalive_cnt = 1, SILENCE, SILENCE, PROBES
    one.tcp_maxrt = 1000 * SILENCE * PROBES


def try_to_send(one: zmq.Socket[bytes], frames: Sequence[Any], copy: bool) -> bool:
    """Sends a message; False if QUEUED others wait, or the connection has ended. A socket learns only now and then which of
    its messages have gone: before it says no, it looks."""
    for look in (False, True):
        if look:
            one.get(zmq.EVENTS)
        with suppress(zmq.Again):
            for frame in frames[:-1]:  # send_multipart() computes with enumerations, for longer than a message takes
                one.send(frame, _MORE_AT_ONCE, copy)
            one.send(frames[-1], _AT_ONCE, copy)
            return True
    return False


class ServiceSocket:
    """host: this machine's address for the others; folder: of local sockets, "" for none; name: of the service. Serves only
    requests of processes that have the job's keys."""

    def __init__(self, name: str, keys: Keys, machine: str, host: str, folder: str):
        self._name, self._keys = name, keys
        self._context = zmq.Context()
        self._door = self._context.socket(zmq.REP)  # asked for each connection: rfc.zeromq.org/spec/27
        self._door.linger = 0
        self._door.bind("inproc://zeromq.zap.01")
        self._router = self._context.socket(zmq.ROUTER)
        set_limits(self._router)
        self._router.router_mandatory = True
        self._router.rcvtimeo = round(1000 * TICK)
        self._monitor = self._router.get_monitor_socket(zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
        self._origins: dict[int, str] = {}  # addresses of open connections, by file descriptor
        self._senders: dict[bytes, _Sender] = {}  # connections from which a message has arrived
        self._by_descriptor: dict[int, deque[bytes]] = {}  # the same; a descriptor may be used again at once
        self._refused: set[str] = set()
        self._closing = threading.Event()
        self.address = Address(machine, self._bind_local(folder), self._bind_remote(host))

    def _bind_local(self, folder: str) -> str:
        path = os.path.join(folder, self._name.replace(" ", "-"))
        if not folder or len(path) > _PATH_LIMIT:
            return ""
        self._router.bind(f"ipc://{path}")
        return f"ipc://{path}"

    def _bind_remote(self, host: str) -> str:
        self._router.curve_server = True  # for addresses that are bound after this line
        self._router.curve_publickey, self._router.curve_secretkey = self._keys.server, self._keys.server_secret
        self._router.ipv6 = ":" in host
        self._router.bind(f"tcp://[{host}]:*" if ":" in host else f"tcp://{host}:*")
        bound: Any = self._router.last_endpoint
        return str(bound.rstrip(b"\0").decode())

    def serve(
        self,
        take: Take,
        tick: Callable[[], None],
        stopped: Callable[[], bool],
        batching: Callable[[], Batching | None] = lambda: None,
    ) -> None:
        """Gives each request to take(), and calls tick() between them, until stopped(). batching(): the service, if its
        replies wait for flush(), which is called when no other request waits. All in this thread, but for new connections."""
        watching = threading.Thread(target=self._watch_connections, name="connections", daemon=True)
        watching.start()
        due, receive = time.monotonic() + TICK, self._router.recv
        while not stopped():
            if time.monotonic() >= due:
                tick()
                due = time.monotonic() + TICK
            try:
                sender = receive()
            except zmq.Again:  # nothing arrives for TICK seconds
                continue
            frames = [receive(copy=False)]  # a sender's name is never the end of a message
            while frames[-1].more:
                frames.append(receive(copy=False))
            state = self._senders.get(sender) or self._note_sender(sender, int(frames[0].get(zmq.SRCFD)))
            self._give(take, sender, state, frames)
            service = batching()
            if service is not None and not int(self._router.get(zmq.EVENTS)) & _ARRIVED:
                service.flush()
        service = batching()
        if service is not None:
            service.flush()
        self._closing.set()
        watching.join()

    def close(self) -> None:
        """Ends all connections; pending replies still arrive if the peers read them."""
        self._router.disable_monitor()
        for one in (self._monitor, self._door):
            one.close()
        self._router.close(linger=1000)
        if self.address.local:
            with suppress(OSError):
                os.unlink(self.address.local.removeprefix("ipc://"))
        self._context.term()

    def _give(self, take: Take, sender: bytes, state: _Sender, frames: list[zmq.Frame]) -> None:
        respond = partial(self._reply, sender, state)
        try:
            message = state.memory.unpack(frames[0].bytes, frames[1:])
            if message.kind != Kind.REQUEST:
                raise Malformed(f"a message of kind {message.kind} is not a request")
            if message.flags & Flag.PIECE:
                state.collected.add(message.header, message.arrays)
            elif message.flags & Flag.NEXT:
                self._send(sender, state.next_piece())
            else:
                arrays = state.collected.taken() if message.flags & Flag.IN_PIECES else message.arrays
                take(message.header, arrays, respond, message.patience, state.memory.for_reply())
        except Malformed as error:
            respond(encode_error(error.kind, str(error)))
        except Exception as error:  # one request must not end the service
            _log.exception("a request failed")
            respond(encode_error(ClusterError.kind, f"{type(error).__name__}: {error}"))

    def _reply(self, sender: bytes, state: _Sender, answer: Answer) -> None:
        state.pieces, flags = [], 0
        kind, header, arrays = (
            (Kind.GONE, str(answer).encode(), []) if isinstance(answer, ClusterError) else (Kind.REPLY, *answer)
        )
        if is_large(arrays):
            state.pieces, arrays, flags = list(cut(arrays)), [], Flag.IN_PIECES
        self._send(sender, state.memory.pack(kind, header, arrays, flags))

    def _send(self, sender: bytes, frames: list[Any]) -> None:
        try:
            if not try_to_send(self._router, [sender, *frames], copy=len(frames) == 1):
                _log.warning("a reply of %d bytes was dropped: its receiver reads nothing", sum(map(_size, frames)))
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:  # the connection has ended
                raise

    def _watch_connections(self) -> None:
        poller = zmq.Poller()
        poller.register(self._door, zmq.POLLIN)
        poller.register(self._monitor, zmq.POLLIN)
        while not self._closing.is_set():
            ready = dict(poller.poll(round(1000 * TICK)))
            if self._monitor in ready:
                self._note_connection()
            if self._door in ready:
                self._admit()

    def _admit(self) -> None:
        """Answers whether a connection, which has proved that it has a secret key, has that of the job's processes."""
        version, number, _, address, _, mechanism, *credentials = self._door.recv_multipart()
        fine = mechanism == b"CURVE" and [z85.encode(one) for one in credentials] == [self._keys.client]
        if not fine:
            self._refuse(address.decode("ascii", "replace"), "it has not the keys of this job")
        self._door.send_multipart([version, number, b"200" if fine else b"400", b"", b"", b""])

    def _note_sender(self, sender: bytes, descriptor: int) -> _Sender:
        self._by_descriptor.setdefault(descriptor, deque()).append(sender)
        state = self._senders[sender] = _Sender()
        return state

    def _note_connection(self) -> None:
        """Logs a connection that ends without a message: it had other bytes, a wrong key, or nothing to say."""
        event = parse_monitor_message(self._monitor.recv_multipart())
        descriptor = int(event["value"])
        if event["event"] == zmq.EVENT_ACCEPTED:
            self._origins[descriptor] = _peer(descriptor)
            return
        origin, senders = self._origins.pop(descriptor, ""), self._by_descriptor.get(descriptor)
        if senders:
            self._senders.pop(senders.popleft(), None)
        else:
            self._refuse(origin, "it sent no message with the keys of this job")

    def _refuse(self, origin: str, problem: str) -> None:
        """Logs a refused connection, once for each origin: its second attempts have the same reason."""
        if origin not in self._refused and len(self._refused) < _ORIGINS:
            self._refused.add(origin)
            _log.warning("refused a connection from %s: %s", origin or "a machine that has hung up", problem)


class _Sender:
    """A connection: the memory that it has in common with the service, and its messages in pieces. pieces: of the reply, not
    sent yet."""

    def __init__(self) -> None:
        self.memory, self.collected = BorrowedMemory(), Collected()
        self.pieces: list[tuple[bytes, Arrays]] = []

    def next_piece(self) -> list[Any]:
        """The frames of the reply's next piece; Malformed if there is none."""
        if not self.pieces:
            raise Malformed("there is no other piece of a reply")
        header, arrays = self.pieces.pop(0)
        return pack_frames(Kind.REPLY, header, arrays, 0.0, Flag.PIECE | (Flag.MORE if self.pieces else 0))


def _peer(descriptor: int) -> str:
    """The address of the other end of a connection; "" if it has ended."""
    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as one:
        peer = one.getpeername()
        return str(peer[0]) if peer else "this machine"
    return ""


def _size(frame: Any) -> int:
    return memoryview(frame).nbytes
