"""Histograms of latencies: what is counted, in which bucket, and what the status of a job has of it."""

import time

import pytest

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier
from paddle_mini.cluster.latencies import BOUNDS, LatencyCounts, percentile
from paddle_mini.cluster.messages import Wait, encode
from paddle_mini.cluster.protocol import Pull, View
from paddle_mini.cluster.service import Answering, Later
from paddle_mini.cluster.values import BlockKey


def test_buckets():
    counts = LatencyCounts()
    for seconds in (0.0, 1e-6, 1.1e-6, 0.01, 1e9):
        counts.add("push", seconds)
    assert len(counts.counts["push"]) == len(BOUNDS) + 1 and sum(counts.counts["push"]) == 5
    assert counts.counts["push"][:2] == [2, 1] and counts.counts["push"][-1] == 1
    bucket = next(bucket for bucket, count in enumerate(counts.counts["push"]) if count and bucket > 1)
    assert BOUNDS[bucket - 1] < 0.01 <= BOUNDS[bucket]


def test_percentiles_are_above_by_less_than_half():
    counts, some = LatencyCounts(), [1e-5 * (1 + number) for number in range(1000)]
    for seconds in some:
        counts.add("push", seconds)
    for fraction in (0.01, 0.5, 0.99, 1.0):
        exact = some[int(fraction * len(some)) - 1]
        assert exact <= percentile(counts.counts["push"], fraction) <= 1.4143 * exact
    assert percentile([], 0.5) == 0.0


class Kept(Answering):
    """A service that replies to a pull when it is told to."""

    def __init__(self):
        super().__init__("job", {Pull: self.pull, View: lambda request: Wait()})
        self.known = 0

    def pull(self, request):
        return Wait() if self.known else Later(lambda: self.pull(request))

    def progress(self):
        return self.known


def test_a_request_that_is_kept_counts_when_it_is_answered():
    service, answers = Kept(), []
    service.take(*encode("job", Pull([BlockKey("w", 0)])), answers.append, 60.0)
    assert not answers and service.latencies.counts == {}
    service.known = 1
    service.release()
    assert len(answers) == 1 and sum(service.latencies.counts["pull"]) == 1
    service.handle(*encode("job", View()))
    service.handle(b"nothing of ours", [])
    assert {name: sum(counts) for name, counts in service.latencies.counts.items()} == {"pull": 1, "view": 1}


@pytest.mark.parametrize("mode", ["async", "collective"])
def test_the_status_of_a_job_has_them(mode):
    def trains(steps):
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        for step in range(steps):
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
        time.sleep(0.5)  # for a heartbeat of each server

    seen = []
    servers = 2 if mode == "async" else None
    pm.cluster.run(trains, 2, servers, mode, args=(20,), on_status=seen.append, status_seconds=0.01, lease=0.4)
    last = seen[-1]
    assert last.coordinator["join"].answered >= 2 and 0 < last.coordinator["join"].p50 <= last.coordinator["join"].p99
    if mode == "async":
        pushes = [server.requests["push"] for server in last.servers]
        assert all(0 < one.answered <= 40 and sum(one.counts) == one.answered for one in pushes) and last.collective is None
    else:
        assert last.coordinator["arrive"].answered >= 40
        assert max(len(now.collective.members) for now in seen if now.collective) == 2 and last.collective.step == 20
