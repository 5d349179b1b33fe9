"""Memory that a client lends to a service on its machine: large arrays are in it in place of in frames."""

import fcntl
import gc
import mmap
import os

import numpy as np
import pytest

pytest.importorskip("zmq")

from echo_socket import Echo, linked, served
from paddle_mini.cluster import Malformed, frames, memory_file
from paddle_mini.cluster.frames import Kind
from paddle_mini.cluster.lent_memory import BorrowedMemory, LentMemory

LARGE = np.arange(frames.SMALL, dtype="float32")


def exchange(client, server, arrays, answer=None):
    """The arrays that the server gets and those that the client gets back, and the numbers of frames of both messages."""
    request = client.pack(b"header", arrays, 0.0)
    got = server.unpack(request[0], request[1:])
    reply = server.pack(Kind.REPLY, b"reply", got.arrays if answer is None else answer)
    back = client.unpack(reply[0], reply[1:])
    assert (got.header, back.header) == (b"header", b"reply")
    return got.arrays, back.arrays, len(request), len(reply)


def same(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        np.testing.assert_array_equal(one, other, strict=True)


def there_and_back(client, server, arrays):
    """Sends the arrays and gets them again, unchanged; the numbers of frames, as exchange() gives them."""
    got, back, sent, replied = exchange(client, server, arrays)
    same(got, arrays)
    same(back, arrays)
    return sent, replied


def test_large_arrays_are_in_memory_from_the_second_message_on():
    client, server = LentMemory(), BorrowedMemory()
    for step in range(5):
        arrays = [LARGE + step, np.ones(3), LARGE[::-1] * step]
        frames = there_and_back(client, server, [np.ascontiguousarray(one) for one in arrays])
    assert frames == (1, 1)


def test_memory_grows_with_the_messages():
    client, server = LentMemory(), BorrowedMemory()
    for count in (1, 1, 1, 9, 9, 9, 2, 2):
        frames = there_and_back(client, server, [LARGE + number for number in range(count)])
    assert frames == (1, 1)


def test_a_reply_that_is_still_used_is_not_overwritten():
    client, server = LentMemory(), BorrowedMemory()
    for step in range(4):
        exchange(client, server, [LARGE], [LARGE + step])
    _, first, _, replied = exchange(client, server, [LARGE], [LARGE + 10])
    assert replied == 1
    for step in range(3):
        _, other, sent, replied = exchange(client, server, [LARGE], [LARGE + 20 + step])
        same(other, [LARGE + 20 + step])
        assert (sent, replied) == (1, 2)
    same(first, [LARGE + 10])
    del first
    _, other, _, replied = exchange(client, server, [LARGE], [LARGE + 30])
    same(other, [LARGE + 30])
    assert replied == 1


def test_memory_that_can_not_be_reached_is_not_used(monkeypatch):
    monkeypatch.setattr(memory_file.os, "getpid", lambda: 2**31 - 1)
    client, server = LentMemory(), BorrowedMemory()
    for _ in range(3):
        got, back, sent, replied = exchange(client, server, [LARGE])
        same(got, [LARGE])
        same(back, [LARGE])
        assert (sent, replied) == (2, 2)


def made(size, seals, mark=b"m" * 16):
    descriptor = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    with mmap.mmap(descriptor, size) as memory:
        memory[:16] = mark
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


@pytest.mark.parametrize("problem", ["seals", "size", "mark", "file", "closed"])
def test_offers_of_other_memory_are_not_accepted(problem, tmp_path):
    """Memory that could become smaller would end the process that reads it."""
    size = frames.ALIGNMENT + 4096
    descriptor = made(size, 0 if problem == "seals" else memory_file._SEALS, b"x" * 16 if problem == "mark" else b"m" * 16)
    if problem == "file":
        descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
        os.truncate(descriptor, size)
    if problem == "closed":
        os.close(descriptor)
    offer = frames.Offer(os.getpid(), descriptor, 4096 + (problem == "size"), 0, b"m" * 16)
    (head,) = frames.pack_frames(Kind.REQUEST, b"", [], 0.0, frames.Flag.OFFER, offer)
    server = BorrowedMemory()
    server.unpack(head, [])
    reply = frames.unpack_frames(server.pack(Kind.REPLY, b"", [])[0], [])
    assert not reply.flags & frames.Flag.OFFER
    with pytest.raises(Malformed, match="are the most"):
        server.unpack(*[frames.pack_frames(Kind.REQUEST, b"", [], 0.0, 2, offer._replace(reply=1 << 40))[0], []])


def test_no_memory_is_left(tmp_path):
    """Neither descriptors nor mappings, after connections have ended."""

    def count():
        gc.collect()
        with open("/proc/self/maps") as maps:
            return sum("memfd:paddle_mini" in line for line in maps), len(os.listdir("/proc/self/fd"))

    def use():
        with served(Echo(), tmp_path) as address:
            for _ in range(5):
                with linked(address, machine="here") as ask:
                    for _ in range(4):
                        same(ask(b"", [LARGE])[1], [LARGE + 1])

    use()
    before = count()
    use()
    assert count() == before
    assert before[0] == 0
