# Prometheus: serves the figures of a job's processes as metrics, for a server of Prometheus to read.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from types import TracebackType
from typing import Any

from ...errors import shown
from ..errors import ClusterError, Malformed
from ..latencies import BOUNDS
from .tensorboard import SERVER_SCALARS, TRAINER_SCALARS
from .watch import RequestStatus, ServerStatus, Snapshot, TrainerStatus

_COUNTERS = ("steps", "dropped", "restarts", "saves", "checkpoint_errors", "sent", "applied", "received", "given")
"""Figures that only increase, until a process restarts."""


class PrometheusEndpoint:
    """Callable that keeps the last Snapshot, and serves it at http://127.0.0.1:PORT/metrics: paddle_mini_trainer_steps_total
    and so on for names of TrainerStatus and ServerStatus, with the label `trainer` or `server`; the histogram
    paddle_mini_request_seconds with the labels `service` and `request`; paddle_mini_tasks. Programs on this machine can read
    it, others can't.

    port: 0 takes a free one. ClusterError where prometheus_client is not installed, or the port is in use; Malformed for an
    invalid port."""

    def __init__(self, port: int):
        if type(port) is not int or not 0 <= port < 1 << 16:
            raise Malformed(f"prometheus is {shown(port)}, it must be a port, from 0 to 65535")
        try:
            from prometheus_client import CollectorRegistry, start_http_server
        except ImportError:
            raise ClusterError("prometheus=... needs prometheus_client: pip install 'paddle_mini[cluster]'") from None
        self._now: Snapshot | None = None
        registry = CollectorRegistry()
        registry.register(self)
        try:
            self._server, self._thread = start_http_server(port, "127.0.0.1", registry)
        except OSError as error:
            raise ClusterError(f"can't serve metrics on port {port}: {error.strerror or error}") from None
        self.port: int = self._server.server_port

    def __call__(self, now: Snapshot) -> None:
        self._now = now

    def collect(self) -> Iterator[Any]:
        """The metrics, when they are read."""
        now = self._now
        if now is None:
            return
        yield from _figures("trainer", now.trainers, (*TRAINER_SCALARS, "sent", "applied"))
        yield from _figures("server", now.servers, (*SERVER_SCALARS, "received", "given"))
        yield from _states(now)
        yield _requests(now)

    def __enter__(self) -> PrometheusEndpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _figures(what: str, rows: Sequence[TrainerStatus | ServerStatus], names: Sequence[str]) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    present = GaugeMetricFamily(f"paddle_mini_{what}_present", f"1 while the {what} is in the job", labels=[what])
    for row in rows:
        present.add_metric([str(row.number)], row.silent is not None)
    yield present
    for name in names:
        kind = CounterMetricFamily if name in _COUNTERS else GaugeMetricFamily
        metric = kind(f"paddle_mini_{what}_{name}", f"{name} of {type(rows[0]).__name__ if rows else what}", labels=[what])
        for row in rows:
            value = getattr(row, name)
            if value is not None:
                metric.add_metric([str(row.number)], value)
        yield metric


def _states(now: Snapshot) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    tasks = GaugeMetricFamily("paddle_mini_tasks", "data tasks of the pass", labels=["state"])
    for state in ("todo", "pending", "done", "failed"):
        tasks.add_metric([state], now.tasks[state])
    yield tasks
    yield CounterMetricFamily("paddle_mini_coordinator_restarts", "restarts of the coordinator", value=now.restarts)
    if now.collective is not None:
        yield GaugeMetricFamily("paddle_mini_collective_step", "the next step", value=now.collective.step)
        yield GaugeMetricFamily("paddle_mini_collective_members", "its trainers", value=len(now.collective.members))
        yield GaugeMetricFamily("paddle_mini_collective_waiting", "waiting trainers", value=len(now.collective.waiting))


def _requests(now: Snapshot) -> Any:
    from prometheus_client.core import HistogramMetricFamily

    text = "from a request to its answer; the sum is that of the buckets' upper bounds"
    metric = HistogramMetricFamily("paddle_mini_request_seconds", text, labels=["service", "request"])
    services: dict[str, Mapping[str, RequestStatus]] = {"coordinator": now.coordinator}
    services.update({f"server {server.number}": server.requests for server in now.servers})
    for service, requests in services.items():
        for name, one in requests.items():
            counts = [*one.counts, *[0] * (len(BOUNDS) + 1 - len(one.counts))]
            bounds = [*(f"{bound:.3g}" for bound in BOUNDS), "+Inf"]
            most = sum(count * bound for count, bound in zip(counts, (*BOUNDS, BOUNDS[-1])))
            metric.add_metric([service, name], list(zip(bounds, accumulate(counts))), sum_value=most)
    return metric
