"""The path of a gradient from a trainer's step to the server's optimizer is short enough to be read in one sitting."""

import sys

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.cluster.servers.push_plan import PushPlan
from paddle_mini.cluster.trainers.trainer import JobTrainer
from paddle_mini.optimizer.native import NativeOptimizer

MOST = 16


def table_and_dense():
    ids = pm.layers.data("ids", shape=[-1, 1], dtype="int64")
    loss = pm.layers.mean(pm.layers.fc(pm.layers.embedding(ids, size=[10, 4], is_sparse=True), 2))
    pm.optimizer.SGD(0.1).minimize(loss)
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    trainer = pm.cluster.join()
    for step in range(3):
        trainer.run({"ids": np.array([[step], [3]])})


def calls_since_run():
    """The functions from a trainer's step to this one, including the first and the last."""
    names, frame = [], sys._getframe(1)
    while frame is not None and frame.f_code is not JobTrainer.run.__code__:
        names.append(f"{type(frame.f_locals.get('self')).__name__}.{frame.f_code.co_name}")
        frame = frame.f_back
    return None if frame is None else ["JobTrainer.run", *reversed(names)]


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_a_push_takes_few_calls(mode, monkeypatch):
    """Replaces the last calls in Python by a function that records the path: in mode async one for all blocks."""
    ways = {}

    def watched(kind, name):
        update = getattr(kind, name)

        def called(self, *given):
            ways[name] = calls_since_run() or ways.get(name)
            return update(self, *given)

        return called

    last = [(PushPlan, "apply")] if mode == "async" else [(NativeOptimizer, "update"), (NativeOptimizer, "update_rows")]
    for kind, name in last:
        monkeypatch.setattr(kind, name, watched(kind, name))
    pm.cluster.run(table_and_dense, 1, 1, mode)
    assert ways.keys() == {name for _, name in last}
    for way in ways.values():
        assert way is not None and len(way) <= MOST, " > ".join(way)
