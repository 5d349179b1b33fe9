"""The sockets of a job: arrays pass, a service that moves is found, and processes without the job's keys are refused."""

import logging
import os
import socket
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from paddle_mini.cluster import Gone, Malformed, StorageError, Timeout
from paddle_mini.cluster.engine import Envelope
from paddle_mini.cluster.wire import unpack
from tcp_tap import Tap

zmq = pytest.importorskip("zmq")

from paddle_mini.cluster import frames, service_socket  # noqa: E402
from paddle_mini.cluster.service_socket import Keys, ServiceSocket, local_folder  # noqa: E402
from paddle_mini.cluster.socket_link import SocketLink  # noqa: E402

KEYS = Keys.new()
SECRET = b"what only the job may read"
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"%s" + bytes(1 + 31)
HUGE = b"\x06" + (1 << 40).to_bytes(8, "big")
"""The beginning of a command of 2^40 bytes."""


def greeting(mechanism):
    """The bytes that each side of ZeroMQ's protocol 3.1 sends first (rfc.zeromq.org/spec/37)."""
    return GREETING % mechanism.ljust(20, b"\0")


class Echo:
    """A service that returns its arguments. kept: requests that it answers at the next tick; slow: seconds for each."""

    def __init__(self):
        self.requests, self.kept, self.slow = [], [], 0.0

    def take(self, header, arrays, respond, patience):
        self.requests.append(header)
        time.sleep(self.slow)
        if header == b"fail":
            raise ValueError("melted")
        if header == b"go away":
            respond(Gone("another process serves"))
        elif header == b"later":
            self.kept.append(respond)
        else:
            respond((header + b"!", [array + 1 for array in arrays]))

    def tick(self):
        for respond in self.kept:
            respond((b"now", []))
        self.kept.clear()


@contextmanager
def served(service, folder="", keys=KEYS):
    one, stop = ServiceSocket("server 0", keys, "here", "127.0.0.1", str(folder)), threading.Event()

    def serve():
        one.serve(service.take, service.tick, stop.is_set)
        one.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield one.address
    finally:
        stop.set()
        thread.join()


@contextmanager
def linked(address, keys=KEYS, machine="there"):
    link = SocketLink(keys, machine, lambda service: address)
    try:
        yield lambda header=b"", arrays=(), timeout=10.0: link.send([Envelope("server 0", header, list(arrays))], timeout)[0]
    finally:
        link.close()


def place(address):
    host, port = address.remote.removeprefix("tcp://").split(":")
    return host, int(port)


def connected(address):
    one = socket.create_connection(place(address), timeout=10)
    time.sleep(0.2)  # so that its address is known before it is refused
    return one


def ended(connection):
    """Whether the other side closes the connection."""
    try:
        while connection.recv(1000):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


ARRAYS = [
    np.arange(3.0),
    np.zeros((), "float32"),
    np.zeros((0, 4), "float32"),
    np.arange(6).reshape(2, 3),
    np.ones(frames.SMALL, "float32"),
    np.full((7, 5), 0.5, "float32"),
    np.arange(frames.SMALL, dtype="float64"),
]


@pytest.mark.parametrize("machine", ["here", "there"])
def test_arrays_pass(machine, tmp_path):
    service = Echo()
    with served(service, tmp_path) as address, linked(address, machine=machine) as ask:
        for count in (len(ARRAYS), 0, 1):
            header, arrays = ask(b"header", ARRAYS[:count])
            assert header == b"header!" and len(arrays) == count
            for given, got in zip(ARRAYS, arrays):
                np.testing.assert_array_equal(got, given + 1, strict=True)
                assert got.flags.aligned and got.flags.c_contiguous


def test_local_sockets_are_of_this_user_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(service_socket.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = local_folder("job")
    assert folder == local_folder("job") and os.stat(folder).st_mode & 0o777 == 0o700
    os.chmod(folder, 0o755)
    with pytest.raises(StorageError, match="not a folder of this user alone"):
        local_folder("job")
    with served(Echo(), "x" * 200) as address:  # no socket has such a path
        assert address.local == ""


def test_a_reply_may_come_later():
    with served(Echo()) as address, linked(address) as ask:
        assert ask(b"later") == (b"now", [])


def test_a_service_that_fails_goes_on(caplog):
    with served(Echo()) as address, linked(address) as ask:
        assert unpack(ask(b"fail")[0])["error"] == {"kind": "failed", "text": "ValueError: melted"}
        gone = ask(b"go away")
        assert isinstance(gone, Gone) and str(gone) == "another process serves"
        assert ask() == (b"!", [])


def test_a_late_reply_belongs_to_no_other_request():
    service = Echo()
    with served(service) as address, linked(address) as ask:
        service.slow = 0.5
        assert isinstance(ask(b"first", timeout=0.1), Timeout)
        service.slow = 0.0
        assert ask(b"second") == (b"second!", [])


def test_a_service_that_moves_is_found(tmp_path):
    places, asked = [], []

    def find(service):
        asked.append(service)
        return places[-1] if places else None

    link, request = SocketLink(KEYS, "there", find), [Envelope("server 0", b"", [])]
    assert isinstance(link.send(request, 1.0)[0], Gone)
    for _ in range(2):
        with served(Echo()) as address:
            places.append(address)
            if len(places) == 2:
                begin = time.monotonic()
                assert isinstance(link.send(request, 30.0)[0], Gone)  # the end of its connection is noticed at once
                assert time.monotonic() - begin < 10
            assert link.send(request, 10.0) == [(b"!", [])] == link.send(request, 10.0)
    assert len(asked) == 3
    link.close()


@pytest.mark.parametrize(
    "bytes_of_it",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        os.urandom(200),
        b"\x00" * 100,
        greeting(b"NULL") + b"\x04\x19\x05READY",
        greeting(b"CURVE") + HUGE,
        greeting(b"CURVE") + b"\x04\xc8\x05HELLO" + bytes(194),
        greeting(b"PLAIN") + b"\x04\x20\x05HELLO" + bytes(26),
    ],
    ids=["http", "random", "zeros", "no security", "2^40 bytes", "wrong key", "password"],
)
def test_the_bytes_of_a_stranger(bytes_of_it, caplog):
    service = Echo()
    with served(service) as address, linked(address) as ask, caplog.at_level(logging.WARNING):
        for _ in range(2):
            with connected(address) as stranger:
                stranger.sendall(bytes_of_it)
                assert ended(stranger)
        assert ask(b"continues") == (b"continues!", [])
        deadline = time.monotonic() + 10
        while not caplog.messages and time.monotonic() < deadline:
            time.sleep(0.01)
    assert service.requests == [b"continues"]
    assert caplog.messages == ["refused a connection from 127.0.0.1: it sent no message with the keys of this job"]


def test_a_local_message_that_is_too_large(tmp_path):
    with served(Echo(), tmp_path) as address, linked(address, machine="here") as ask:
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(10)
            one.connect(address.local.removeprefix("ipc://"))
            one.sendall(greeting(b"NULL") + HUGE)
            assert ended(one)
        assert ask() == (b"!", [])


def test_half_a_message_and_silence(caplog, monkeypatch):
    monkeypatch.setattr(service_socket, "HANDSHAKE", 0.5)
    with served(Echo()) as address, linked(address) as ask, caplog.at_level(logging.WARNING):
        with connected(address) as one:
            one.sendall(greeting(b"CURVE")[:30])
            assert ask(b"meanwhile") == (b"meanwhile!", [])
            assert ended(one)
        assert ask() == (b"!", [])
    assert len(caplog.messages) == 1 and "127.0.0.1" in caplog.messages[0]


OTHERS = Keys.new()


@pytest.mark.parametrize("keys", [OTHERS, OTHERS._replace(server=KEYS.server)], ids=["another job", "wrong key"])
def test_wrong_keys(keys, caplog):
    """A part of another job, and one that knows whom it asks, but has no key that this job has handed out."""
    service = Echo()
    with served(service) as address, linked(address, keys) as stranger, linked(address) as ask:
        with caplog.at_level(logging.WARNING):
            for _ in range(2):
                assert isinstance(stranger(SECRET), Gone)
        assert ask() == (b"!", [])
    assert service.requests == [b""]
    if keys.server == KEYS.server:
        assert caplog.messages == ["refused a connection from 127.0.0.1: it has not the keys of this job"]
    else:  # its address is known if the connection lasts until it is asked for
        assert caplog.messages and len(set(caplog.messages)) == len(caplog.messages)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_what_is_heard_on_the_way_is_neither_read_nor_sent_again():
    service, values = Echo(), np.arange(50.0)
    with served(service) as address:
        host, port = place(address)
        tap = Tap(host, port)
        with linked(address._replace(remote=f"tcp://{host}:{tap.port}")) as ask:
            assert ask(SECRET, [values])[0] == SECRET + b"!"
        tap.close()
        (heard,) = tap.heard
        assert SECRET not in heard and values.tobytes()[8:24] not in heard
        with connected(address) as stranger:
            stranger.sendall(heard)
            assert ended(stranger)
    assert service.requests == [SECRET]


def raw(address):
    """A socket with the job's keys, for messages that no link sends."""
    one = zmq.Context.instance().socket(zmq.DEALER)
    one.linger, one.rcvtimeo = 0, 10_000
    one.curve_serverkey, one.curve_publickey, one.curve_secretkey = KEYS.server, KEYS.client, KEYS.client_secret
    one.connect(address.remote)
    return one


@pytest.mark.parametrize(
    "parts",
    [[b""], [b"x" * 5], [frames._BEGIN.pack(0, 0.0, 1 << 31, 0)], [frames._BEGIN.pack(1, 0.0, 0, 0)], [b"", b"x"]],
    ids=["empty", "short", "2^31 arrays", "a reply", "two frames"],
)
def test_a_message_of_a_member_that_makes_no_sense(parts):
    with served(Echo()) as address, linked(address) as ask, raw(address) as member:
        member.send_multipart(parts)
        reply = frames.unpack_frames(*[member.recv()], [])
        assert unpack(reply.header)["error"]["kind"] == "malformed"
        assert ask() == (b"!", [])


def test_a_member_that_reads_no_replies_does_not_stop_the_others():
    """Replies beyond those that a connection holds are dropped."""
    service, large = Echo(), np.zeros(1 << 17)
    with served(service) as address, linked(address) as ask, raw(address) as member:
        for _ in range(60):
            member.send_multipart(frames.pack_frames(frames.Kind.REQUEST, b"", [large]))
        while len(service.requests) < 30:
            time.sleep(0.01)
        assert ask() == (b"!", [])


def test_a_frame_has_a_limit():
    many = np.broadcast_to(np.zeros(1), (1 << 30,))
    with pytest.raises(Malformed, match="divide it"):
        frames.pack_frames(frames.Kind.REQUEST, b"", [many])


@pytest.mark.parametrize(
    "damage",
    [
        lambda parts: parts[:1],
        lambda parts: [*parts, b""],
        lambda parts: [parts[0] + b"\0", *parts[1:]],
        lambda parts: [parts[0][:-1], *parts[1:]],
        lambda parts: [parts[0], bytes(parts[1])[:-1]],
        lambda parts: [b"\x03" + parts[0][1:], parts[1]],
        lambda parts: [parts[0].replace(b"\0\0\x01", b"\x09\0\x01", 1), parts[1]],
    ],
    ids=["lost", "more", "longer", "shorter", "cut", "kind", "dtype"],
)
def test_frames_that_do_not_fit(damage):
    parts = frames.pack_frames(frames.Kind.REQUEST, b"header", [np.ones(frames.SMALL, "float32"), np.ones(3)], 0.0)
    assert frames.unpack_frames(parts[0], parts[1:]).header == b"header"
    bad = damage(parts)
    with pytest.raises(Malformed):
        frames.unpack_frames(bad[0], bad[1:])


def test_many_requests_at_once_and_one_after_another(monkeypatch):
    """A socket that believes that QUEUED messages wait looks whether they have gone, in place of losing one."""
    monkeypatch.setattr(service_socket, "QUEUED", 2)
    with served(Echo()) as address, linked(address) as ask, raw(address) as member:
        for _ in range(100):
            member.send_multipart(frames.pack_frames(frames.Kind.REQUEST, b"", []))
            member.recv()
        for _ in range(300):
            assert ask() == (b"!", [])
