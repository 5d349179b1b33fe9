"""Frames of messages: what does not fit is refused, and memory in common holds large arrays."""

import struct

import numpy as np
import pytest

from paddle_mini.cluster import Malformed
from paddle_mini.cluster.wire import unpack

pytest.importorskip("zmq")

from echo_socket import Echo, linked, raw, served
from paddle_mini.cluster import frames

BEGIN = struct.Struct("<BBdII")
"""Kind, flags, patience, number of arrays, bytes of the header."""


@pytest.mark.parametrize(
    "parts",
    [[b""], [b"x" * 5], [BEGIN.pack(0, 0, 0.0, 1 << 31, 0)], [BEGIN.pack(1, 0, 0.0, 0, 0)], [b"", b"x"]],
    ids=["empty", "short", "2^31 arrays", "a reply", "two frames"],
)
def test_a_message_of_a_member_that_makes_no_sense(parts):
    with served(Echo()) as address, linked(address) as ask, raw(address) as member:
        member.send_multipart(parts)
        reply = frames.unpack_frames(*[member.recv()], [])
        assert unpack(reply.header)["error"]["kind"] == "malformed"
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


def test_offers_and_memory_that_make_no_sense():
    memory = memoryview(bytearray(1 << 17))
    large = np.arange(frames.SMALL, dtype="float32")
    offer = frames.Offer(1, 2, 1 << 16, 0, bytes(16))
    parts = frames.pack_frames(frames.Kind.REQUEST, b"header", [large, np.ones(2)], 0.0, frames.Flag.OFFER, offer)
    assert frames.offer_of(parts[0]) == offer and frames.unpack_frames(parts[0], parts[1:]).header == b"header"
    for cut in (20, 40):
        with pytest.raises(Malformed):
            frames.offer_of(parts[0][:cut])
    (head,) = frames.pack_frames(frames.Kind.REQUEST, b"", [large, large], memory=memory)
    message = frames.unpack_frames(head, [], memory)
    assert message.large == frames.room_for([large, large]) == 2 * large.nbytes
    for array in message.arrays:
        np.testing.assert_array_equal(array, large, strict=True)
        assert not array.flags.writeable
    for given in (None, memory[: large.nbytes], memory[: 2 * large.nbytes - 1]):
        with pytest.raises(Malformed):
            frames.unpack_frames(head, [], given)
    with pytest.raises(Malformed, match="fit into the memory"):
        frames.pack_frames(frames.Kind.REQUEST, b"", [large], memory=memory[:8])


@pytest.mark.parametrize("dims", [(1 << 62, 4), (0, 1 << 62, 8), (1 << 63,)], ids=str)
def test_shapes_that_no_memory_has(dims):
    head = BEGIN.pack(0, 0, 0.0, 1, 0) + struct.pack(f"<BB{len(dims)}Q", 0, len(dims), *dims)
    with pytest.raises(Malformed):
        frames.unpack_frames(head, [])
