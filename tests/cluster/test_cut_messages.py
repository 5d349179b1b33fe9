"""Messages above a size go through sockets in pieces."""

import json

import numpy as np
import pytest

pytest.importorskip("zmq")

from echo_socket import Echo, linked, raw, served
from paddle_mini.cluster import Malformed, cut_messages, frames, service_socket, socket_link
from paddle_mini.cluster.cut_messages import Collected, cut
from paddle_mini.cluster.frames import Flag, Kind, pack_frames
from paddle_mini.cluster.wire import unpack

PIECE = 1 << 16
ARRAYS = [
    np.arange(3.0),
    np.arange(70_000, dtype="float32").reshape(7, -1),
    np.zeros((0, 4), "float32"),
    np.zeros((), "float64"),
    np.arange(40_000),
]


@pytest.fixture
def sent(monkeypatch):
    """The bytes of each message, with pieces of PIECE bytes."""
    monkeypatch.setattr(cut_messages, "PIECE_BYTES", PIECE)
    found = []
    send = service_socket.try_to_send

    def counted(one, message, copy):
        found.append(sum(memoryview(frame).nbytes for frame in message))
        return send(one, message, copy)

    monkeypatch.setattr(service_socket, "try_to_send", counted)
    monkeypatch.setattr(socket_link, "try_to_send", counted)
    return found


def test_the_default_limit():
    assert cut_messages.PIECE_BYTES <= 64 * 10**6 * 1.05


def test_pieces_become_the_same_arrays(sent):
    for arrays in (ARRAYS, ARRAYS[::-1], [], ARRAYS[2:3]):
        collected, count = Collected(), 0
        for header, parts in cut(arrays):
            assert sum(part.nbytes for part in parts) <= PIECE
            collected.add(header, parts)
            count += 1
        assert count >= sum(array.nbytes for array in arrays) / PIECE
        found = collected.taken()
        assert len(found) == len(arrays)
        for one, other in zip(found, arrays):
            np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("machine", ["here", "there"])
def test_both_directions(sent, machine, tmp_path):
    service = Echo()
    with served(service, tmp_path) as address, linked(address, machine=machine) as ask:
        for arrays in (ARRAYS, ARRAYS[:1], ARRAYS, [np.arange(1 << 18)] * 3):
            header, got = ask(b"header", arrays)
            assert header == b"header!" and len(got) == len(arrays)
            for one, other in zip(got, arrays):
                np.testing.assert_array_equal(one, other + 1, strict=True)
    assert max(sent) < PIECE + 2000 and service.requests == [b"header"] * 4


def test_others_are_answered_between_pieces(sent):
    service, large = Echo(), [np.arange(1 << 18)]
    with served(service) as address, linked(address) as ask, raw(address) as slow:
        *first, last = cut(large)
        for header, parts in first:
            slow.send_multipart(pack_frames(Kind.REQUEST, header, parts, 0.0, Flag.PIECE))
            assert ask(b"other") == (b"other!", [])
        slow.send_multipart(pack_frames(Kind.REQUEST, *last, 0.0, Flag.PIECE))
        slow.send_multipart(pack_frames(Kind.REQUEST, b"large", [], 0.0, Flag.IN_PIECES))
        reply = slow.recv_multipart()
        message = frames.unpack_frames(reply[0], reply[1:])
        assert message.header == b"large!" and message.flags & Flag.IN_PIECES
        assert ask(b"other") == (b"other!", [])


@pytest.mark.parametrize(
    "about",
    [[[0, 1, [4]]], [[1, 0, [4]]], [[0, 0, [3]]], [[0, 0, [2**47, 2**47]]], [[0, 0]], [], [["0", 0, [4]]], [[0, 0, [4]]] * 2],
    ids=str,
)
def test_pieces_that_do_not_fit(about):
    """The request is refused, and the next one is answered."""
    service = Echo()
    with served(service) as address, raw(address) as member:
        member.send_multipart(
            pack_frames(Kind.REQUEST, json.dumps(about).encode(), [np.ones(4)] * max(1, len(about)), 0.0, Flag.PIECE)
        )
        for kind in ("malformed", None):
            member.send_multipart(pack_frames(Kind.REQUEST, b"x", [], 0.0, Flag.IN_PIECES if kind else 0))
            reply = frames.unpack_frames(member.recv(), [])
            assert reply.header == b"x!" if kind is None else unpack(reply.header)["error"]["kind"] == kind
        member.send_multipart(pack_frames(Kind.REQUEST, b"", [], 0.0, Flag.NEXT))
        assert unpack(frames.unpack_frames(member.recv(), []).header)["error"]["text"] == "there is no other piece of a reply"
    assert service.requests == [b"x"]


def test_a_message_that_ends_early():
    collected = Collected()
    header, parts = next(cut([np.ones(4)]))
    collected.add(header, [parts[0][:3]])
    with pytest.raises(Malformed, match="ends before"):
        collected.taken()
    assert collected.taken() == []


def test_a_service_that_ends_while_pieces_come(sent):
    """The request is for its successor."""
    large = [np.arange(1 << 21)]
    with served(Echo()) as address:
        pass
    with linked(address) as ask:
        answer = ask(b"", large, timeout=5.0)
    assert isinstance(answer, service_socket.ClusterError)
