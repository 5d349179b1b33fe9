# Watch: polls the status of a running job, as plain data, and logs its events.
from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

from ...errors import shown
from ..client import Client
from ..errors import ClusterError, Malformed, Timeout
from ..latencies import Latencies, percentile
from ..process_log import AT_ONCE, LOGGER
from ..protocol import GetJobStatus
from ..replies import JobStatus
from ..values import MemberStatus

_log = logging.getLogger(LOGGER)
_SAVE = "save "
_OWN = ("number", "silent", "restarts", "lost", "requests")
"""Fields that reports don't set."""


class TrainerStatus(NamedTuple):
    """silent: seconds since its last message; None: it left or was lost. restarts: joins after it was lost. steps: of
    this incarnation; sent, applied, dropped: pushes, each at each server; saves: saved models.

    number: its index, from 0. steps_per_second: since the last report. lost: it was lost, and did not leave.
    Example:
        >>> pm.cluster.TrainerStatus(number=0, silent=0.2, restarts=0, steps=100).steps
        100
    """

    number: int
    silent: float | None
    restarts: int
    steps: int = 0
    steps_per_second: float = 0.0
    sent: int = 0
    applied: int = 0
    dropped: int = 0
    saves: int = 0
    lost: bool = False


class RequestStatus(NamedTuple):
    """Requests of one kind: how many a service has answered since it started. p50, p99: seconds from the request to its
    answer, waiting for other processes included, that half, or all but one in a hundred, did not exceed, at most 41 % too
    long. counts: of the buckets of paddle_mini.cluster.latencies.BOUNDS.

    answered: their number.
    Example:
        >>> pm.cluster.RequestStatus(answered=3, p50=1e-3, p99=2e-3).answered
        3
    """

    answered: int
    p50: float
    p99: float
    counts: tuple[int, ...] = ()


class CollectiveStatus(NamedTuple):
    """step: the next one; members: the trainers that make it; waiting: those that wait for the state of the others.

    Example:
        >>> pm.cluster.CollectiveStatus(step=7, members=(0, 1), waiting=()).members
        (0, 1)
    """

    step: int
    members: tuple[int, ...]
    waiting: tuple[int, ...]


class ServerStatus(NamedTuple):
    """silent, restarts, lost: as for a trainer. bytes: of its parameters. received, given: bytes of arrays since it started.
    behind: by how many versions the parameters of the pushes since its last report were outdated, on average; None: no
    pushes; worst_behind: the maximum since it started. checkpoint: number of the newest one, or None; checkpoint_age:
    seconds since; checkpoint_seconds: duration of the write; checkpoint_errors: failed writes.

    version: of its parameters, a number that increases with each update. received_per_second, given_per_second: bytes a second
    since the last report. requests: a RequestStatus by the name of the request; docs/cluster.md lists the names.
    Example:
        >>> pm.cluster.ServerStatus(number=0, silent=0.2, restarts=0, bytes=4096).bytes
        4096
    """

    number: int
    silent: float | None
    restarts: int
    version: int = 0
    bytes: int = 0
    received: int = 0
    received_per_second: float = 0.0
    given: int = 0
    given_per_second: float = 0.0
    behind: float | None = None
    worst_behind: int = 0
    checkpoint: int | None = None
    checkpoint_age: float | None = None
    checkpoint_seconds: float = 0.0
    checkpoint_errors: int = 0
    lost: bool = False
    requests: Mapping[str, RequestStatus] = MappingProxyType({})


class Snapshot(NamedTuple):
    """State of a job, seconds after its start: the last heartbeat reports of all its processes, past ones included.
    tasks: how many are "todo", "pending", "done" and "failed", and the "pass", from 0. saving: by directory, the
    trainer that is elected to save there. restarts: of the coordinator.

    trainers, servers: one TrainerStatus or ServerStatus each. coordinator: its requests, as those of a server. collective:
    the progress of a job in collective mode, or None.
    Example:
        >>> def train():
        ...     w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        ...     pm.optimizer.SGD(0.1).minimize(w)
        ...     exe = pm.Executor()
        ...     exe.run(pm.default_startup_program())
        ...     pm.cluster.join(exe=exe).run()
        >>> snapshots = []
        >>> result = pm.cluster.run(train, trainers=2, on_status=snapshots.append)
        >>> [trainer.steps for trainer in snapshots[-1].trainers]
        [1, 1]
    """

    seconds: float
    trainers: tuple[TrainerStatus, ...]
    servers: tuple[ServerStatus, ...]
    tasks: Mapping[str, int]
    saving: Mapping[str, int]
    restarts: int
    coordinator: Mapping[str, RequestStatus] = MappingProxyType({})
    collective: CollectiveStatus | None = None


OnStatus = Callable[[Snapshot], Any]


def snapshot(status: JobStatus, seconds: float) -> Snapshot:
    """From the coordinator's reply to "status"."""
    saving = {right[len(_SAVE) :]: int(lease.trainer) for right, lease in status.leases.items() if right.startswith(_SAVE)}
    step, members, waiting = status.rendezvous.step, tuple(status.rendezvous.members), tuple(status.rendezvous.waiting)
    return Snapshot(
        seconds,
        tuple(TrainerStatus(**row) for row in _rows(TrainerStatus, status.trainers)),
        tuple(
            ServerStatus(**row, requests=_requests(status.servers[str(row["number"])].latencies))
            for row in _rows(ServerStatus, status.servers)
        ),
        status.tasks,
        saving,
        status.restarts,
        _requests(status.latencies),
        CollectiveStatus(step, members, waiting) if step or members or waiting else None,
    )


def _rows(kind: Any, members: Mapping[str, MemberStatus]) -> Iterator[dict[str, Any]]:
    for number, member in sorted(members.items(), key=lambda item: int(item[0])):
        report = {name: value for name, value in member.report.items() if name in kind._fields and name not in _OWN}
        yield {**report, "number": int(number), "silent": member.silent, "restarts": member.restarts, "lost": member.lost}


def _requests(latencies: Latencies) -> dict[str, RequestStatus]:
    return {name: request_status(counts) for name, counts in sorted(latencies.items())}


def request_status(counts: Sequence[int]) -> RequestStatus:
    """From the counts of a histogram."""
    return RequestStatus(sum(counts), percentile(counts, 0.5), percentile(counts, 0.99), tuple(counts))


class Watch:
    """Polls the coordinator, logs the events of other processes, and calls each function of on_status with a Snapshot.
    A function that raises is logged and not called again; training continues."""

    def __init__(self, client: Client, on_status: Sequence[OnStatus], clock: Callable[[], float] = time.monotonic):
        self._client, self._on_status, self._clock = client, list(on_status), clock
        self._begun, self._events, self._restarts, self._trouble = clock(), 0, 0, ""

    def look(self) -> None:
        """Polls once; does nothing while the coordinator is down."""
        try:
            events: list[Any] = [None] * AT_ONCE
            while len(events) == AT_ONCE:
                status = self._client.once("coordinator", GetJobStatus(self._events))
                if status.restarts != self._restarts:
                    self._restarts, self._events = status.restarts, 0
                    continue
                events, self._events = status.events, status.events_end
                for level, text in events:
                    _log.log(level, "%s", text)
        except Timeout:  # it restarts, or other requests report the failure
            return
        except ClusterError as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                _log.error("the status can't be shown: %s", error)
            return
        now = snapshot(status, self._clock() - self._begun)
        for one in list(self._on_status):
            try:
                one(now)
            except Exception:
                _log.exception("showing the status failed; it is not shown any longer")
                self._on_status.remove(one)


@contextmanager
def watching(client: Client, on_status: Sequence[OnStatus], seconds: float) -> Iterator[None]:
    """Polls in a thread, every so many seconds, and once more at the end. Malformed for invalid seconds."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < 1e9:
        raise Malformed(f"status_seconds is {shown(seconds)}, it must be a number of seconds above 0")
    watch, over = Watch(client, on_status), threading.Event()

    def poll() -> None:
        while not over.wait(seconds):
            watch.look()

    thread = threading.Thread(target=poll, name="cluster watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        watch.look()
