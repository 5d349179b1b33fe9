# TensorBoard: writes the figures of a job's processes as scalars of an event file.
from __future__ import annotations

from types import TracebackType
from typing import Any

from ..._core import ProgramError
from ...io.parameters import Path
from ..errors import ClusterError
from .watch import ServerStatus, Snapshot, TrainerStatus

TRAINER_SCALARS = ("steps_per_second", "steps", "dropped", "restarts", "saves")
SERVER_SCALARS = (
    "version",
    "received_per_second",
    "given_per_second",
    "behind",
    "worst_behind",
    "checkpoint_seconds",
    "checkpoint_errors",
    "restarts",
)


class TensorBoard:
    """Callable that writes each Snapshot to a directory: "trainer_0/steps_per_second" over the trainer's
    steps, "server_0/version" over the server's versions, and so on, for names of TrainerStatus and ServerStatus;
    "job/tasks_done" and "job/tasks_failed" over seconds. ClusterError where TensorBoardLogger raises ProgramError."""

    def __init__(self, directory: Path):
        from ...loggers import TensorBoardLogger

        try:
            self._logger = TensorBoardLogger(directory)
        except ProgramError as error:
            raise ClusterError(f"tensorboard=...: {error}") from None
        self._written: dict[str, Any] = {}

    def __call__(self, now: Snapshot) -> None:
        for trainer in now.trainers:
            self._write(f"trainer_{trainer.number}", trainer, TRAINER_SCALARS, trainer.steps)
        for server in now.servers:
            self._write(f"server_{server.number}", server, SERVER_SCALARS, server.version)
        self._logger.log({f"job/tasks_{word}": now.tasks[word] for word in ("done", "failed")}, int(now.seconds))

    def _write(self, part: str, row: TrainerStatus | ServerStatus, names: Any, step: int) -> None:
        figures = {name: getattr(row, name) for name in names if getattr(row, name) is not None}
        if figures == self._written.get(part):  # no new report, or the process has left
            return
        self._written[part] = figures
        self._logger.log({f"{part}/{name}": value for name, value in figures.items()}, step)

    def __enter__(self) -> TensorBoard:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._logger.close()
