"""The endpoint for Prometheus."""

import re
import sys
import urllib.request

import pytest

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier
from live_threads import threads
from paddle_mini.cluster import ClusterError, CollectiveStatus, Malformed, ServerStatus, Snapshot, TrainerStatus
from paddle_mini.cluster.view.prometheus import PrometheusEndpoint
from paddle_mini.cluster.view.watch import request_status

parser = pytest.importorskip("prometheus_client.parser")

LABELS = ("trainer", "server", "state", "service", "request", "le")
NOW = Snapshot(
    9.0,
    (TrainerStatus(0, 0.1, 0, 12, 3.5, 4, 4), TrainerStatus(1, None, 1, 7)),
    (ServerStatus(0, 0.1, 0, 19, requests={"push": request_status([0, 2, 1])}),),
    {"pass": 0, "todo": 1, "pending": 2, "done": 3, "failed": 4},
    {},
    2,
    {"join": request_status([1])},
    CollectiveStatus(5, (0, 1), (2,)),
)


def read(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as reply:
        text = reply.read().decode()
    samples = [one for family in parser.text_string_to_metric_families(text) for one in family.samples]
    return {(one.name, *(one.labels[label] for label in LABELS if label in one.labels)): one.value for one in samples}


def test_metrics_are_those_of_the_last_snapshot():
    with PrometheusEndpoint(0) as endpoint:
        assert read(endpoint.port) == {}
        endpoint(NOW)
        found = read(endpoint.port)
    expected = {
        ("paddle_mini_trainer_steps_total", "0"): 12,
        ("paddle_mini_trainer_steps_per_second", "0"): 3.5,
        ("paddle_mini_trainer_present", "0"): 1,
        ("paddle_mini_trainer_present", "1"): 0,
        ("paddle_mini_trainer_restarts_total", "1"): 1,
        ("paddle_mini_server_version", "0"): 19,
        ("paddle_mini_tasks", "failed"): 4,
        ("paddle_mini_coordinator_restarts_total",): 2,
        ("paddle_mini_collective_waiting",): 1,
        ("paddle_mini_request_seconds_count", "server 0", "push"): 3,
        ("paddle_mini_request_seconds_bucket", "server 0", "push", "1e-06"): 0,
        ("paddle_mini_request_seconds_bucket", "server 0", "push", "1.41e-06"): 2,
        ("paddle_mini_request_seconds_bucket", "server 0", "push", "+Inf"): 3,
        ("paddle_mini_request_seconds_count", "coordinator", "join"): 1,
    }
    assert {name: found[name] for name in expected} == expected
    assert ("paddle_mini_server_behind", "0") not in found, "without pushes"
    assert not any("http" in thread.name for thread in threads())


def test_a_job_serves_them_while_it_runs():
    found = []

    def trains(port):
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        trainer.run(batch(0, 8), [loss])
        while not found:
            metrics = read(port)
            if metrics.get(("paddle_mini_trainer_present", "0")) == 1:
                found.append(metrics)

    with PrometheusEndpoint(0) as free:
        port = free.port
    pm.cluster.run(trains, 1, 1, args=(port,), prometheus=port, status_seconds=0.01)
    assert found[0]["paddle_mini_request_seconds_count", "coordinator", "join"] == 1
    with pytest.raises(OSError):
        read(port)


def test_ports_that_can_not_be(monkeypatch):
    with pytest.raises(Malformed, match="prometheus is 65536, it must be a port"):
        pm.cluster.run(print, prometheus=65536)
    with (
        PrometheusEndpoint(0) as taken,
        pytest.raises(ClusterError, match=re.escape(f"on port {taken.port}: Address already in use")),
    ):
        pm.cluster.run(print, prometheus=taken.port)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(ClusterError, match=r"pip install 'paddle_mini\[cluster\]'"):
        pm.cluster.run(print, prometheus=0)
