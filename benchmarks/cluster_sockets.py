# The cost of messages through the sockets of a job, as cluster_costs.py measures it.
from __future__ import annotations

import itertools
import json
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import zmq

from cluster_inputs import Costs
from cluster_one_server import BLOCKS, TIMES, OneServer, seconds_of
from paddle_mini.cluster.engine import Envelope
from paddle_mini.cluster.frames import Kind, pack_frames, unpack_frames
from paddle_mini.cluster.messages import decode_reply, encode
from paddle_mini.cluster.protocol import Push
from paddle_mini.cluster.replies import Pushed
from paddle_mini.cluster.service_socket import QUEUED, Keys, ServiceSocket, set_limits
from paddle_mini.cluster.socket_link import SocketLink
from paddle_mini.cluster.values import BlockKey

CALLS, CLIENTS = 400, 8
AT_ONCE = 32
"""Messages that a client sends at once, as to so many servers."""


def serve(keys: Keys, folder: str, found: Any) -> None:
    """A process with a service that gives as many bytes as a request asks for; b"work" asks for its CPU time."""
    server = OneServer(folder).server
    one = ServiceSocket("echo", keys, "here", "127.0.0.1", folder)

    def take(header: bytes, arrays: Sequence[Any], respond: Any, patience: float, memory: memoryview | None) -> None:
        if header == b"work":
            respond((json.dumps(time.process_time()).encode(), []))
        elif header.isdigit():
            respond((b"", ready(int(header), memory)))
        else:
            server.take(header, arrays, respond, patience, memory)

    found.put(one.address)
    one.serve(take, lambda: None, lambda: False)


def ready(elements: int, memory: memoryview | None) -> list[np.ndarray]:
    """The arrays of a reply, where a server makes them, without the work of making them, which pull_byte and pull_row count."""
    if not elements:
        return []
    place = memory is not None and len(memory) >= 4 * elements
    whole = np.frombuffer(memory, np.float32, elements) if place else _READY.setdefault(elements, np.ones(elements, np.float32))
    return np.split(whole, BLOCKS)


_READY: dict[int, np.ndarray] = {}


class Peer:
    """A process that serve()s, and its address."""

    def __init__(self, folder: str):
        spawn, self.keys, self.folder = multiprocessing.get_context("spawn"), Keys.new(), folder
        found = spawn.Queue()
        self.process = spawn.Process(target=serve, args=(self.keys, folder, found), daemon=True)
        self.process.start()
        self.address = found.get()

    def link(self, is_local: bool) -> SocketLink:
        return SocketLink(self.keys, "here" if is_local else "elsewhere", lambda service: self.address)


def costs_of_sockets(threads: Costs, peer: Peer, is_local: bool) -> Costs:
    """Costs of messages that wait for each other, on this machine: by local sockets, or encrypted as between machines. Each
    end is charged the CPU time of its process. Where servers have machines of their own, a trainer takes one reply after the
    other; where all share one, others run between two of them, so that each costs as much as the first."""
    link, size = peer.link(is_local), 1 << 20

    def ask(header: bytes, arrays: Sequence[Any] = ()) -> Any:
        (answer,) = link.send([Envelope("echo", header, list(arrays))], 60.0)
        return answer[0]

    def many() -> float:
        """CPU seconds of the client for each of AT_ONCE messages."""
        best, requests = 1e9, [Envelope("echo", b"0", []) for _ in range(AT_ONCE)]
        for _ in range(CALLS // 8):
            own = time.process_time()
            link.send(requests, 60.0)
            best = min(best, (time.process_time() - own) / AT_ONCE)
        return best

    def work(header: bytes, arrays: Sequence[Any] = ()) -> tuple[float, float, float]:
        """CPU seconds of the client, of the server, and seconds of a call."""
        best, calls = (1e9, 1e9, 1e9), CALLS // 8
        for _ in range(8):
            before, own = json.loads(ask(b"work")), time.process_time()
            wall = min(seconds_of(lambda: ask(header, arrays)) for _ in range(calls))
            own, after = time.process_time() - own, json.loads(ask(b"work"))
            best = min(best[0], own / calls), min(best[1], (after - before) / calls), min(best[2], wall)
        return best

    arrays = [np.ones(size // BLOCKS, np.float32) for _ in range(BLOCKS)]
    empty, sent, got = work(b"0"), work(b"0", arrays), work(str(size).encode())
    client_byte, server_byte = ((sent[end] + got[end] - 2 * empty[end]) / (8 * size) for end in (0, 1))
    return replace(
        threads,
        client_message=threads.client_message + empty[0],
        client_byte=threads.client_byte + max(0.0, client_byte),
        server_message=threads.server_message + empty[1],
        server_byte=max(0.0, server_byte),
        message_wait=max(0.0, empty[2] - empty[0] - empty[1]),
        client_message_more=many() + (threads.client_message if is_local else threads.client_message_more or 0.0),
        server_message_more=small_messages(peer, is_local)["server_cpu"]
        + (threads.server_message_more or threads.server_message)
        - held_seconds(peer.folder),
    )


def small_messages(peer: Peer, is_local: bool) -> dict[str, float]:
    """Pushes of 16 values whose replies have 16 values, from clients that don't wait for each other: CPU seconds of the
    server's process for each, and of the part of it that other threads of the process wait for at most (the GIL)."""
    context, clients = zmq.Context(), []
    for _ in range(CLIENTS):
        one = context.socket(zmq.DEALER)
        set_limits(one)
        if is_local:
            one.connect(peer.address.local)
        else:
            one.curve_serverkey, one.curve_publickey, one.curve_secretkey = peer.keys.server, *peer.keys[2:]
            one.connect(peer.address.remote)
        clients.append(one)
    link, steps = peer.link(is_local), itertools.count(time.monotonic_ns())  # later than those of an earlier call

    def server_work() -> float:
        (answer,) = link.send([Envelope("echo", b"work", [])], 60.0)
        return float(json.loads(answer[0]))

    best = 1e9
    for _ in range(TIMES):
        at_once = QUEUED * CLIENTS  # so many replies are kept
        messages = [pack_frames(Kind.REQUEST, *encode("job", small_push(next(steps)))) for _ in range(20 * at_once)]
        before = server_work()
        for begin in range(0, len(messages), at_once):
            for number in range(at_once):
                clients[number % CLIENTS].send_multipart(messages[begin + number])
            for number in range(at_once):
                reply = clients[number % CLIENTS].recv_multipart()
        best = min(best, (server_work() - before) / len(messages))
        message = unpack_frames(reply[0], reply[1:])
        decode_reply(Pushed, message.header, message.arrays)
    context.destroy(linger=0)
    return {"server_cpu": best, "per_second_of_a_core": 1 / best}


def small_push(step: int) -> Push:
    key = BlockKey("small 0", 0)
    return Push(0, 0, step, [key], wanted=[key], arrays=[np.full(16, 1e-3, np.float32)])


def held_seconds(directory: str) -> float:
    """CPU seconds of all Python code of such a message at its server, between its arrival and its reply: at most so long
    does it keep other threads from running."""
    server, best = OneServer(directory).server, 1e9
    for begin in range(1 << 40, (1 << 40) + 40 * 200, 40):
        messages = [pack_frames(Kind.REQUEST, *encode("job", small_push(begin + step))) for step in range(40)]
        start = time.thread_time()
        for frames in messages:
            message = unpack_frames(frames[0], frames[1:])
            server.take(message.header, message.arrays, lambda answer: pack_frames(Kind.REPLY, *answer), 5.0)
        best = min(best, (time.thread_time() - start) / len(messages))
    return best
