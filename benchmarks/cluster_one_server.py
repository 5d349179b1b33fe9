# A parameter server whose requests are calls, for measurements of what they cost.
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import paddle_mini as pm
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.engine import Answer, Envelope, Link
from paddle_mini.cluster.protocol import Checkpoint, Push
from paddle_mini.cluster.servers.parameter_shard import ShardUpdate, mean
from paddle_mini.cluster.servers.server import ParameterServer
from paddle_mini.cluster.servers.settings import ServerSettings
from paddle_mini.cluster.shards import ParameterInfo
from paddle_mini.cluster.trainers.remote_parameters import RemoteParameter, RemoteParameters

ELEMENTS, ROWS, TABLE = 1 << 20, 4096, 1_000_000
TABLES = {"deep": 16, "wide": 1}
"""Width of each."""
BLOCKS = 8
"""Arrays in a message, one of which is large."""
TIMES = 25


def least_seconds(call: Callable[[], Any]) -> float:
    call()
    return min(seconds_of(call) for _ in range(TIMES))


def seconds_of(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def leave_caches() -> None:
    """Fills a core's own caches with other data, as the computation of a trainer and messages of others do between two
    messages."""
    _OTHER_DATA[:] += 1


_OTHER_DATA = np.zeros(1 << 23, np.uint8)


class DirectLink(Link):
    """Calls one server as an object; `inside` sums the seconds spent in it."""

    def __init__(self, server: ParameterServer):
        self._server, self.inside = server, 0.0

    def send(self, requests: Sequence[Envelope], timeout: float) -> list[Answer]:
        begin = time.perf_counter()
        answers: list[Answer] = [self._server.handle(one.header, one.arrays) for one in requests]
        self.inside += time.perf_counter() - begin
        return answers


class OneServer:
    """A server, and its client, with small parameters and a large one, updated by adagrad, and the two tables of wide &
    deep, updated by adagrad and by ftrl."""

    def __init__(self, directory: str):
        adagrad, ftrl = (one.to_config().SerializeToString() for one in (pm.optimizer.Adagrad(0.01), pm.optimizer.Ftrl(0.01)))
        infos = [ParameterInfo(f"small {i}", (16,), "float32") for i in range(BLOCKS - 1)]
        infos += [ParameterInfo("large", (ELEMENTS,), "float32")]
        infos += [ParameterInfo(name, (TABLE, width), "float32", sparse=True) for name, width in TABLES.items()]
        held = [RemoteParameter(info, ftrl if info.name == "wide" else adagrad) for info in infos]
        self.server = ParameterServer(0, ServerSettings("job", 1, 1, checkpoint_seconds=1e6), directory)
        self.link = DirectLink(self.server)
        self._client = Client(self.link, "job")
        self.parameters = RemoteParameters(self._client, held, 1)
        self.values = {info.name: np.full(info.shape, 0.5, info.dtype) for info in infos}
        self.parameters.initialise([0], 1, self.values)
        self._draw, self._step = np.random.default_rng(0), 0

    def seconds(self, name: str, large: bool = False, rows: bool = False, follows: bool = False) -> tuple[float, float]:
        """Cost of a "pull" or a "push" of all small parameters and these: at the client, at the server. The rows differ
        each time, as those of batches do. follows: it comes right after another one, with nothing between them."""
        names = [one for one in self.values if one.startswith("small") or (large and one == "large")]
        samples = []
        for _ in range(TIMES):
            some = self._draw.integers(0, TABLE, ROWS)
            numbers = dict.fromkeys(TABLES if rows else (), np.unique(some))
            gradients: dict[str, Any] = {one: np.full_like(self.values[one], 1e-3) for one in names}
            gradients.update({one: (some, np.full((ROWS, TABLES[one]), 1e-3, np.float32)) for one in numbers})
            if not follows:
                leave_caches()
            self.link.inside, begin = 0.0, time.perf_counter()
            if name == "pull":
                selected = self.parameters.select(names, numbers)
                selected.received(self.parameters.read(selected, [0]))
            else:
                blocks, arrays = self.parameters.shares(gradients)[0]
                self._client.request("server 0", Push(0, 0, self._step, blocks, arrays=arrays))
                self._step += 1
            samples.append((time.perf_counter() - begin - self.link.inside, self.link.inside))
        client, server = zip(*samples)
        return min(client), min(server)

    def checkpoint_byte(self) -> float:
        """Seconds of a core, without those of the disk."""
        begin = time.process_time()
        written = self._client.request("server 0", Checkpoint()).checkpoint
        return (time.process_time() - begin) / written["bytes"]

    def sum_byte(self) -> float:
        held = self.server._shards["large", 0]
        values = np.ones(ELEMENTS, np.float32)
        parts = [ShardUpdate(held, values, None)] * 8
        seconds = least_seconds(lambda: mean([part.copied() for part in parts], len(parts)))
        return seconds / (len(parts) * values.nbytes)
