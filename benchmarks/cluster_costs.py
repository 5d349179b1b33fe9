# Cost of messages at trainers, servers and the coordinator, measured here for the model in cluster_sim.py.
"""Writes results/cluster_costs.json. Each figure is the minimum of many times, or seconds of CPU time, so that other work
on this machine does not count.

    python benchmarks/cluster_costs.py
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import count, cycle
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

import paddle_mini as pm
from cluster_job import train
from cluster_sim import Costs
from measuring import HERE
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.coordinator.coordinator import Coordinator
from paddle_mini.cluster.coordinator.coordinator_settings import CoordinatorSettings
from paddle_mini.cluster.engine import Answer, Envelope, Link
from paddle_mini.cluster.messages import Request, decode_reply, encode
from paddle_mini.cluster.protocol import AskSave, Checkpoint, EndTasks, GetTasks, Heartbeat, Join, Push, SetData
from paddle_mini.cluster.servers.parameter_shard import ShardUpdate, mean
from paddle_mini.cluster.servers.server import ParameterServer
from paddle_mini.cluster.servers.settings import ServerSettings
from paddle_mini.cluster.shards import ParameterInfo
from paddle_mini.cluster.trainers.remote_parameters import RemoteParameter, RemoteParameters
from paddle_mini.cluster.values import Role, TaskId
from run import cpu_facts
from worker import ONE_THREAD

RESULT = HERE / "results" / "cluster_costs.json"
ELEMENTS, ROWS, TABLE = 1 << 20, 4096, 1_000_000
TABLES = {"deep": 16, "wide": 1}
"""Width of each."""
BLOCKS = 8
"""Arrays in a message, one of which is large."""
TIMES, CALLS = 25, 400
SIZES = (100, 1000, 10_000)
"""Numbers of trainers that a coordinator knows."""
AT_ONCE = 32
"""Trainers whose requests come to a coordinator while its disk is busy."""


def least_seconds(call: Callable[[], Any]) -> float:
    call()
    return min(_seconds(call) for _ in range(TIMES))


def _seconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


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

    def seconds(self, name: str, large: bool = False, rows: bool = False) -> tuple[float, float]:
        """Cost of a "pull" or a "push" of all small parameters and these: at the client, at the server. The rows differ
        each time, as those of batches do."""
        names = [one for one in self.values if one.startswith("small") or (large and one == "large")]
        samples = []
        for _ in range(TIMES):
            some = self._draw.integers(0, TABLE, ROWS)
            numbers = dict.fromkeys(TABLES if rows else (), np.unique(some))
            gradients: dict[str, Any] = {one: np.full_like(self.values[one], 1e-3) for one in names}
            gradients.update({one: (some, np.full((ROWS, TABLES[one]), 1e-3, np.float32)) for one in numbers})
            self.link.inside, begin = 0.0, time.perf_counter()
            if name == "pull":
                self.parameters.pull(names, numbers)
            else:
                blocks, arrays = self.parameters.share(0, gradients)
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


def costs_of_threads() -> Costs:
    """Costs of an engine whose messages are calls."""
    with tempfile.TemporaryDirectory() as directory:
        one = OneServer(directory)
        measured = {
            (name, what): one.seconds(name, **dict.fromkeys(what.split(), True))
            for name in ("pull", "push")
            for what in ("", "large", "rows", "large rows")
        }
        size, of_rows = 4 * ELEMENTS, ROWS * (8 + 4 * sum(TABLES.values()))

        def more(name: str, what: str, where: int) -> float:
            return max(0.0, measured[name, what][where] - measured[name, ""][where])

        heartbeats = {count: coordinator_seconds(count)["heartbeat"] for count in (SIZES[0], SIZES[-1])}
        member = max(0.0, heartbeats[SIZES[-1]] - heartbeats[SIZES[0]]) / (SIZES[-1] - SIZES[0])
        return Costs(
            client_message=(measured["pull", ""][0] + measured["push", ""][0]) / 2,
            client_byte=(more("pull", "large rows", 0) + more("push", "large rows", 0)) / (2 * (size + of_rows)),
            server_message=(measured["pull", ""][1] + measured["push", ""][1]) / 2,
            server_byte=0.0,
            message_wait=0.0,
            pull_byte=more("pull", "large", 1) / size,
            pull_row=more("pull", "rows", 1) / ROWS,
            push_byte=more("push", "large", 1) / size,
            push_row=more("push", "rows", 1) / ROWS,
            sum_byte=one.sum_byte(),
            checkpoint_byte=one.checkpoint_byte(),
            heartbeat=heartbeats[SIZES[0]] - member * SIZES[0],
            heartbeat_member=member,
        )


def costs_of_ray(threads: Costs) -> Costs:
    """Each end is charged half of the CPU time that all processes of Ray spend for a call and for its bytes."""
    import ray

    class Echo:
        def give(self, header: bytes, arrays: list[np.ndarray], size: int) -> list[np.ndarray]:
            return [np.ones(size // BLOCKS, np.uint8) for _ in range(BLOCKS)] if size else []

    ray.init(address="local", include_dashboard=False, log_to_driver=False, object_store_memory=1 << 30)
    try:
        echo, size = ray.remote(num_cpus=0)(Echo).remote(), 2 << 20
        arrays = [np.ones(size // BLOCKS, np.uint8) for _ in range(BLOCKS)]

        def work(*message: Any) -> float:
            ray.get(echo.give.remote(b"", *message))
            begin = cpu_seconds()
            for _ in range(CALLS):
                ray.get(echo.give.remote(b"", *message))
            return (cpu_seconds() - begin) / CALLS

        empty, byte = work([], 0), (work(arrays, 0) + work([], size) - 2 * work([], 0)) / (2 * size)
        wait = max(0.0, least_seconds(lambda: ray.get(echo.give.remote(b"", [], 0))) - empty)
    finally:
        ray.shutdown()
    return replace(
        threads,
        client_message=threads.client_message + empty / 2,
        server_byte=byte / 2,
        server_message=threads.server_message + empty / 2,
        client_byte=threads.client_byte + byte / 2,
        message_wait=wait,
    )


def cpu_seconds() -> float:
    """CPU time of this process and of its descendants that are still alive."""
    parents, worked = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            fields = path.read_text().rsplit(")", 1)[1].split()
            parents[int(path.parent.name)], worked[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:13]))

    def is_ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and is_ours(parents[process]))

    ticks = sum(count for process, count in worked.items() if is_ours(process))
    return ticks / os.sysconf("SC_CLK_TCK")


def coordinator_seconds(trainers: int) -> dict[str, float]:
    """Seconds for one trainer's request, of AT_ONCE from as many trainers at once, when a coordinator knows this many
    trainers and each has 10 tasks: with the disk, which one call serves for all of them. ask_save: for trainers that are
    not elected; task: to get one, and to end it; all_join: that all of them join."""
    with tempfile.TemporaryDirectory() as directory:
        coordinator = Coordinator(CoordinatorSettings("job", 2 * trainers, 1, lease=1e9), directory)
        coordinator.batched = True
        replies: SimpleQueue[Any] = SimpleQueue()

        def send(requests: Sequence[Request[Any]]) -> list[Any]:
            for request in requests:
                coordinator.take(*encode("job", request), replies.put, 60.0)
            coordinator.flush()
            return [decode_reply(request.reply, *replies.get()) for request in requests]

        def each(make: Callable[[Any], Request[Any]]) -> float:
            requests = iter([[make(next(who)) for _ in range(AT_ONCE)] for _ in range(TIMES + 1)])
            return least_seconds(lambda: send(next(requests))) / AT_ONCE

        begin, members = time.perf_counter(), []
        for first in range(0, trainers, AT_ONCE):
            members += send([Join(str(number), number) for number in range(first, min(trainers, first + AT_ONCE))])
        all_join = time.perf_counter() - begin
        who = cycle((one.number, one.incarnation) for one in members)
        new = count()
        send([SetData(list(range(10 * trainers)), 1), AskSave(*next(who), directory="models", seconds=1e4)])
        facts = {
            "all_join": all_join,
            "join": each(lambda _: Join(f"new {next(new)}")),
            "heartbeat": each(lambda one: Heartbeat(Role.TRAINER, *one)),
            "ask_save": each(lambda one: AskSave(*one, directory="models", seconds=60.0)),
            "task": each(lambda one: GetTasks(*one, pass_number=0))
            + each(lambda one: EndTasks(*one, tasks=[TaskId(next(new), 1)])),
        }
        coordinator.rest()
        return facts


def of_a_step(engine: str, trainers: int, servers: int) -> dict[str, float]:
    """Costs of a job of wide & deep: CPU time of a trainer's step in all processes together, and CPU time of the
    trainer's own work (compute); and the job's steps per second, which are fewer when other programs use the machine."""
    samples: list[tuple[float, float]] = []
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(0.2):
            samples.append((time.monotonic(), cpu_seconds()))

    watching = threading.Thread(target=sample)
    watching.start()
    try:
        timings = pm.cluster.run(train, trainers=trainers, servers=servers, engine=engine, args=(300, True)).returned
    finally:
        ended.set()
        watching.join()
    begin, end = max(one.ends[0] for one in timings), min(one.ends[-1] for one in timings)
    inside = [sample for sample in samples if begin <= sample[0] <= end]
    (first, before), (last, after) = inside[0], inside[-1]
    steps = sum(first < moment <= last for one in timings for moment in one.ends)
    one = timings[0]
    own = [end - begin - one.parts["exchange"][i] for i, (begin, end) in enumerate(zip(one.ends, one.ends[1:]))]
    return {"work": (after - before) / steps, "steps": steps / (last - first), "compute": min(own)}


def main() -> None:
    os.environ.update(ONE_THREAD)
    threads = costs_of_threads()
    measured = {
        f"{engine} {trainers}+{servers}": of_a_step(engine, trainers, servers)
        for engine in ("threads", "ray")
        for trainers, servers in ((1, 1), (2, 2))
    }
    facts = {
        "cpu": cpu_facts().get("model name"),
        "cores": os.cpu_count(),
        "threads": asdict(threads),
        "ray": asdict(costs_of_ray(threads)),
        "measured": measured,
        "coordinator": {str(count): coordinator_seconds(count) for count in SIZES},
    }
    RESULT.write_text(json.dumps(facts, indent=1) + "\n")
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
