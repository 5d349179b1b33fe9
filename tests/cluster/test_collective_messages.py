"""The messages of a step in collective mode."""

import os
import re
import time
from collections import Counter

import pytest

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier
from paddle_mini.cluster.thread_engine import ThreadEngine


class Counting(ThreadEngine):
    """Counts the requests of steps, by their names."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def post(self, request, respond, timeout):
        (name,) = re.search(rb'"request":"(\w+)"', request.header).groups()
        self.counts[name.decode()] += 1
        super().post(request, respond, timeout)


def no_memory(*_):
    raise OSError("no memory")


@pytest.mark.parametrize("is_shared", [True, False])
def test_trainers_that_wait_for_a_slow_one_do_not_ask_again(is_shared, monkeypatch):
    """A step of n trainers costs each of them one request to the coordinator and one to each of the others, whose gradient it
    also asks for where it can't read their memory."""
    if not is_shared:
        monkeypatch.setattr(os, "memfd_create", no_memory)

    def slow(steps):
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        for step in range(steps):
            if trainer.number == 1:
                time.sleep(0.1)
            trainer.run(batch(8 * step, 8 * step + 8), [loss])

    engine = Counting()
    pm.cluster.run(slow, 3, None, "collective", engine, args=(6,))
    expected = {"arrive": 3 * 6, "get_gradient": 0 if is_shared else 3 * 2 * 6, "get_mean": 3 * 2 * 6, "wake": 3 * 6}
    assert {name: engine.counts[name] for name in expected} == expected
