# The checkpoints with which a job ends.
from __future__ import annotations

import time

from .client import Call, Client, required
from .collective_protocol import Stop
from .engine import Link
from .errors import ClusterError, NotInitialised
from .job_settings import JobSettings
from .process_log import ProcessLogger
from .protocol import Checkpoint

_SOON = 5.0
"""Seconds in which a server must answer when the job has failed."""
_log = ProcessLogger(__name__)


def write_last_checkpoint(link: Link, settings: JobSettings, timeout: float | None = None) -> None:
    """Requests a checkpoint of all servers, with one timestamp; a large one takes minutes. timeout: seconds in which each must
    answer; None: that of the job."""
    timeout = settings.timeout if timeout is None else timeout
    client = Client(link, **{**settings.client_options(), "attempt": settings.wait_timeout, "timeout": timeout})
    request = Checkpoint(time.time_ns())
    written = client.request_all([Call(f"server {index}", request) for index in range(settings.servers)])
    required([one for one in written if not isinstance(one, NotInitialised)])  # if no trainer has joined


def write_after_failure(link: Link, settings: JobSettings) -> None:
    """The same after an error of a trainer, as the coordinator knows which data tasks were done, and they are not done again. A
    server that does not answer may be the reason of the error, which matters more."""
    try:
        write_last_checkpoint(link, settings, min(settings.timeout, _SOON))
    except ClusterError as error:
        _log.error("not all servers have written a checkpoint at the end of the job: %s", error)


def write_newest_state(link: Link, settings: JobSettings) -> None:
    """In collective mode, while trainers run: no further step is made, and one of them writes a checkpoint of the last. It may be
    that none comes to its next step within `timeout` seconds, or that its disk fails; why the job ends matters more."""
    client = Client(link, **{**settings.client_options(), "wait_timeout": settings.timeout})
    try:
        problem = client.request("coordinator", Stop()).problem
    except ClusterError as error:
        problem = str(error)
    if problem:
        _log.error("no checkpoint was written when the job was stopped: %s", problem)
