# TrainingState: the complete state of a collective trainer, for transfer to other trainers and for checkpoints.
from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..._core import Error, ProgramError, Scope
from ...executor import Executor
from ...io.checkpoint import CheckpointManager, Restored
from ...io.checkpoint_files import held_names, schedule_states
from ...io.checkpoint_folder import OtherSaves
from ...program import Program
from ..errors import Malformed, StorageError
from ..process_log import ProcessLogger
from ..trainer_checkpoints import FOLDER
from ..values import MemberId, State
from ..wire import Arrays
from .flat_buffer import FlatBuffer

_PATIENCE, _PAUSE = 60.0, 0.05
"""Seconds for another process that saves to end, and from one attempt to the next."""
_log = ProcessLogger(__name__)


class TrainingState:
    """The persistable variables of a program, its learning-rate schedules, and the random generator of `optimizing`,
    which runs the optimizer: it draws the same numbers on all trainers, while `exe`, which runs the model, has its own
    generator on each.

    CheckpointManager writes the checkpoints in `directory`; seconds: between two of them. errors: counts failed writes.
    """

    def __init__(self, main: Program, exe: Executor, optimizing: Executor, scope: Scope, directory: str, seconds: float):
        self._main, self._exe, self._optimizing, self._scope = main, exe, optimizing, scope
        tensors, rows = held_names(main, scope)
        if rows:
            raise Malformed(
                f"'{rows[0]}' is persistable selected rows, which collective mode does not support: use mode async or sync"
            )
        self._fields = {name: (value.dtype, value.shape) for name, value in self._values(tensors).items()}
        self._checkpoints = CheckpointManager(os.path.join(directory, FOLDER), keep=2, every_seconds=seconds)
        self.errors = 0

    @property
    def layout(self) -> str:
        """A digest that is equal for trainers with compatible states."""
        fields = sorted((name, str(dtype), shape) for name, (dtype, shape) in self._fields.items())
        return hashlib.sha256(repr(fields).encode()).hexdigest()

    def arrays(self) -> Arrays:
        """A copy of the values, which is sent with about()."""
        held_names(self._main, self._scope)  # raises while averages are swapped in for parameters
        flat = FlatBuffer(self._fields)
        for name, value in self._values(self._fields).items():
            np.copyto(flat.views[name], value)
        return flat.share(0, 1)

    def about(self, contributors: list[MemberId]) -> State:
        """contributors: of the last step."""
        return State(schedule_states(self._main), self._optimizing.random_state(), contributors)

    def take(self, arrays: Arrays, about: State) -> None:
        """Loads the arrays() and about() of another trainer."""
        flat = FlatBuffer(self._fields)
        flat.set_share(0, 1, arrays)
        schedules: Mapping[str, Any] = self._main.schedules
        if about.schedules.keys() != schedules.keys():
            raise Malformed("the state of another trainer has other learning-rate schedules")
        for name, view in flat.views.items():
            self._scope.set(name, view)
        for name, rate in schedules.items():
            rate.set_state_dict(about.schedules[name]["state"])
        self._optimizing.set_random_state(about.random)

    def resume(self, own: int | None) -> int:
        """Restores the newest checkpoint, if one exists that is newer than the state that the trainer has: that of step `own`,
        which it keeps if the checkpoint can't be read. Returns the step of the state that it has then."""

        def require_newer(found: Restored) -> None:
            if own is not None and found.step <= own:
                raise ProgramError(f"'{found.path}' is not newer than the state of step {own}")

        if self._checkpoints.latest() is None:
            return own or 0
        try:
            found = self._checkpoints.restore(self._main, self._exe, self._scope, check=require_newer)
        except Error as error:
            if own is None:
                raise
            _log.error("training continues from step %d: %s", own, error)
            return own
        self._optimizing.set_random_state(found.data["random"])
        _log.info("resumes from '%s'", found.path)
        return found.step

    def save_if_due(self, step: int) -> None:
        """Disk errors are logged and counted, and training continues."""
        try:
            self._save(step, force=False)
        except Error as error:
            self.errors += 1
            _log.error("%s", error)

    def save(self, step: int) -> None:
        """StorageError when the disk fails. A trainer that was taken for lost may still save: then this waits for it."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._save(step, force=True)
            except OtherSaves as error:
                if time.monotonic() >= end:
                    raise StorageError(str(error)) from None
                time.sleep(_PAUSE)
            except Error as error:
                raise StorageError(str(error)) from None

    def _save(self, step: int, force: bool) -> None:
        data = {"random": self._optimizing.random_state()}
        self._checkpoints.save(step, self._main, self._exe, self._scope, data, force)

    def _values(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        return {name: self._scope.get(name) for name in names}
