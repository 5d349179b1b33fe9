"""The sockets of a job: arrays pass, replies are of their requests, and a service that moves is found."""

import os
import time

import numpy as np
import pytest

from paddle_mini.cluster import Gone, StorageError, Timeout
from paddle_mini.cluster.engine import Envelope
from paddle_mini.cluster.wire import unpack

pytest.importorskip("zmq")

from echo_socket import KEYS, Echo, linked, raw, served
from paddle_mini.cluster import frames, service_socket
from paddle_mini.cluster.service_socket import local_folder
from paddle_mini.cluster.socket_link import SocketLink

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


def test_a_member_that_reads_no_replies_does_not_stop_the_others():
    """Replies beyond those that a connection holds are dropped."""
    service, large = Echo(), np.zeros(1 << 17)
    with served(service) as address, linked(address) as ask, raw(address) as member:
        for _ in range(60):
            member.send_multipart(frames.pack_frames(frames.Kind.REQUEST, b"", [large]))
        while len(service.requests) < 30:
            time.sleep(0.01)
        assert ask() == (b"!", [])


def test_many_requests_at_once_and_one_after_another(monkeypatch):
    """A socket that believes that QUEUED messages wait looks whether they have gone, in place of losing one."""
    monkeypatch.setattr(service_socket, "QUEUED", 2)
    with served(Echo()) as address, linked(address) as ask, raw(address) as member:
        for _ in range(100):
            member.send_multipart(frames.pack_frames(frames.Kind.REQUEST, b"", []))
            member.recv()
        for _ in range(300):
            assert ask() == (b"!", [])
