# A trainer's exchange with many servers, whose answers cost nothing, for measurements of what it costs the trainer.
from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from cluster_one_server import leave_caches
from paddle_mini.cluster.engine import Answer, Envelope, Link
from paddle_mini.cluster.job_settings import JobSettings
from paddle_mini.cluster.messages import REQUESTS, decode, encode_reply
from paddle_mini.cluster.protocol import Push
from paddle_mini.cluster.replies import Pulled, Pushed
from paddle_mini.cluster.shards import ParameterInfo, block_shape, plan_shards
from paddle_mini.cluster.trainers.remote_parameters import RemoteParameter
from paddle_mini.cluster.trainers.table_rows import rows_of_all
from paddle_mini.cluster.trainers.trainer_process import TrainerProcess

SHAPES = {"deep0.w": (429, 400), "deep1.w": (400, 400), "deep2.w": (400, 400), "deep3.w": (400, 1), "wide.w": (13, 1)}
BIASES = {"deep0.b": (400,), "deep1.b": (400,), "deep2.b": (400,), "deep3.b": (1,), "wide.b": (1,)}
TABLES = {"deep_table": (1_000_000, 16), "wide_table": (1_000_000, 1)}
"""The tables of wide & deep, as cluster_job.py builds it."""
NAMED = 256 * 26
"""Rows that a batch names, with repetitions."""


class NoLink(Link):
    """Answers as servers would, at once; inside: seconds that this took."""

    def __init__(self, infos: Sequence[ParameterInfo], servers: int):
        of = {info.name: info for info in infos}
        blocks = plan_shards(infos, servers)
        self._shapes = {(one.parameter, one.number): block_shape(of[one.parameter], one) for one in blocks}
        self.inside = 0.0

    def send(self, requests: Sequence[Envelope], timeout: float) -> list[Answer]:
        begin = time.thread_time()
        answers = [self._answer(one) for one in requests]
        self.inside += time.thread_time() - begin
        return answers

    def _answer(self, envelope: Envelope) -> Answer:
        request = decode("job", REQUESTS["server"], envelope.header, envelope.arrays)
        wanted = request.wanted if isinstance(request, Push) else request.blocks
        indices = request.arrays[len(request.arrays) - len(request.rows) :]
        arrays = [np.zeros(self._shapes[key], np.float32) for key in wanted]
        arrays += [np.zeros((len(some), *self._shapes[key][1:]), np.float32) for key, some in zip(request.rows, indices)]
        return encode_reply(Pushed(arrays=arrays, life="a") if isinstance(request, Push) else Pulled(arrays, life="a"))


def exchange_seconds(servers: int, merged: int, times: int = 8) -> float:
    """CPU seconds of a trainer for an exchange of wide & deep that sends the gradients of so many batches and gets the
    parameters for as many, without those of its link."""
    dense = [ParameterInfo(name, shape, "float32") for name, shape in {**SHAPES, **BIASES}.items()]
    tables = [ParameterInfo(name, shape, "float32", sparse=True) for name, shape in TABLES.items()]
    link = NoLink(dense + tables, servers)
    process = TrainerProcess(0, link, JobSettings("job", 1, servers), [RemoteParameter(one, b"") for one in dense + tables], dict)
    draw, best = np.random.default_rng(0), 1e9
    names = [one.name for one in dense]
    gradients = {one.name: np.ones(one.shape, np.float32) for one in dense}
    for step in range(times):
        named = draw.integers(0, 1_000_000, merged * NAMED)
        asked = rows_of_all([np.unique(draw.integers(0, 1_000_000, merged * NAMED))])
        rows = {one.name: (named, np.ones((len(named), one.shape[1]), np.float32)) for one in tables}
        leave_caches()
        link.inside, begin = 0.0, time.thread_time()
        process.stage({**gradients, **rows}, step, 0)
        process.exchange(names, dict.fromkeys(TABLES, asked))
        best = min(best, time.thread_time() - begin - link.inside)
    return best
