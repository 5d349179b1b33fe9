# CheckpointWriter: writes the checkpoints of one server beside its requests.
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from functools import partial
from typing import Any

from ..errors import ClusterError
from ..process_log import ProcessLogger
from ..values import CheckpointStatus
from .parameter_shard import ParameterShard
from .server_checkpoint import Cut, ServerCheckpoints

Work = Callable[[], None]
_log = ProcessLogger(__name__)


def in_thread(work: Work) -> None:
    """Begins work in a thread of its own."""
    threading.Thread(target=work, name="checkpoint", daemon=True).start()


class CheckpointWriter:
    """Writes one checkpoint at a time. start: begins the work of writing; without a thread it is over when start returns.

    A checkpoint has the state of the moment of begin(), whatever is pushed while it is written. A push then copies the
    pages that it changes and that are not written yet, so it waits for its own changes only, and the memory is that of one
    copy of what changes meanwhile."""

    def __init__(self, checkpoints: ServerCheckpoints, clock: Callable[[], float], start: Callable[[Work], None] = in_thread):
        self.checkpoints, self.status = checkpoints, CheckpointStatus()
        self._clock, self._start = clock, start
        self._idle = threading.Event()
        self._idle.set()
        self._error: ClusterError | None = None

    @property
    def writes(self) -> bool:
        return not self._idle.is_set()

    def begin(
        self, state: Mapping[str, Any], shards: Iterable[ParameterShard], timestamp: int | None = None, log: bool = True
    ) -> None:
        """Begins a checkpoint of this moment; errors are counted, and logged if `log`. Called when none is written."""
        self._error, began = None, self._clock()
        try:
            cut = self.checkpoints.cut(state, shards, timestamp)
        except ClusterError as error:
            self._failed(error, log)
            return
        self._idle.clear()
        self._start(partial(copy_context().run, self._write, cut, began, log))

    def _write(self, cut: Cut, began: float, log: bool) -> None:
        try:
            self.status.newest = self.checkpoints.write(cut)
        except ClusterError as error:
            self._failed(error, log)
        except Exception as error:  # the server continues
            _log.exception("a checkpoint failed")
            self._failed(ClusterError(f"{type(error).__name__}: {error}"), False)
        finally:
            cut.close()
            self.status.seconds = self._clock() - began
            self._idle.set()

    def _failed(self, error: ClusterError, log: bool) -> None:
        self._error = error
        self.status.errors += 1
        self.status.last_error = str(error)
        if log:
            _log.error("%s", error)

    def result(self) -> dict[str, Any]:
        """The last checkpoint; raises the error of the last attempt."""
        if self._error is not None:
            raise self._error
        assert self.status.newest is not None
        return self.status.newest

    def await_end(self) -> None:
        """Returns when nothing is written any more."""
        self._idle.wait()
