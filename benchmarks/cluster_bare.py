# Two trainers and two servers as bare Ray actors that exchange the messages of a wide & deep step and do nothing else.
"""Runs for benchmarks/cluster.py, which first writes the messages' shapes to SHAPES."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import ray

from cluster_job import POOL, Message, Timing, build, rate
from environments import FOLDER
from worker import Run, serve

SHAPES = FOLDER / "cluster_messages.json"
TABLE_ROWS = 500_000
"""Rows of a table on each of two servers, which hold one half each."""


def random_ids(count: int) -> np.ndarray:
    return np.sort(np.random.default_rng(count).permutation(TABLE_ROWS)[:count]).astype(np.int64)


def filled(message: Message) -> list[np.ndarray]:
    """Arrays as in a message: row numbers, sorted ascending, and values."""
    return [random_ids(shape[0]) if dtype == "<i8" else np.full(shape, 1e-3, dtype) for shape, dtype in message.sent]


class Server:
    """Adds pushed values to arrays and returns copies of them; rows of tables are addressed by their numbers."""

    def __init__(self, pushed: Message):
        before, self.dense, self.tables = "", [], []
        for shape, dtype in pushed.sent:
            if dtype != "<i8":
                of_table = before == "<i8"
                (self.tables if of_table else self.dense).append(np.zeros((TABLE_ROWS, *shape[1:]) if of_table else shape, dtype))
            before = dtype

    def pull(self, rows: list[np.ndarray]) -> list[np.ndarray]:
        return [array.copy() for array in self.dense] + [table[some] for table, some in zip(self.tables, rows)]

    def push(self, arrays: list[np.ndarray]) -> None:
        dense, tables, left = iter(self.dense), iter(self.tables), iter(arrays)
        for array in left:
            if array.dtype == np.int64:
                next(tables)[array] += next(left)
            else:
                target = next(dense)
                target += array


class Trainer:
    """Each step pulls from all servers at once, then runs `computes`, the model's forward and backward pass, then pushes."""

    def __init__(self, servers: Sequence[Any], pulls: list[Message], pushes: list[Message], computes: bool):
        self.servers, self.computes = servers, _model() if computes else lambda step: None
        self.rows, self.gradients = [filled(one) for one in pulls], [filled(one) for one in pushes]

    def steps(self, count: int) -> list[float]:
        """The time at which each step ended, preceded by the time at which the first one began."""
        ends = [time.monotonic()]
        for step in range(count):
            ray.get([server.pull.remote(rows) for server, rows in zip(self.servers, self.rows)])
            self.computes(step)
            ray.get([server.push.remote(arrays) for server, arrays in zip(self.servers, self.gradients)])
            ends.append(time.monotonic())
        return ends


def _model() -> Callable[[int], Any]:
    import paddle_mini as pm
    from paddle_mini.cluster.trainers.transpile import transpile

    loss, batches = build()
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    program = transpile(pm.default_main_program())
    fetches = [loss.name] + [one.gradient for one in program.trained]
    return lambda step: exe.run(program.program, batches[step % POOL], fetches)


def prepare(computes: bool) -> Run:
    """Steps of all trainers, from which bytes per second follow."""
    pulls, pushes = ([Message(*one) for one in some] for some in json.loads(SHAPES.read_text()))
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 30)
    actors = {kind: ray.remote(num_cpus=0)(kind) for kind in (Server, Trainer)}
    servers = [actors[Server].remote(one) for one in pushes]
    trainers = [actors[Trainer].remote(servers, pulls, pushes, computes) for _ in range(2)]

    def run(steps: int) -> float:
        ends = ray.get([trainer.steps.remote(steps) for trainer in trainers])
        return rate([Timing(one, {}, [pulls, pushes], one[0]) for one in ends])

    run(10)
    return run


if __name__ == "__main__":
    serve({"exchange": lambda: prepare(False), "training": lambda: prepare(True)})
