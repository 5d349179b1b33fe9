# CheckpointManager: saves when that is due, and restores.
from __future__ import annotations

import json
import numbers
import os
import time
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from .._core import ProgramError, Scope, printable
from ..callsite import warn
from ..errors import shown, whole
from ..executor import Executor
from ..program import Program
from ..renamed import answers_names
from ..scope import scope_or_global
from ..termination import heed_sigterm
from .background import BackgroundCall
from .checkpoint_files import held_names, program_sum, put_back, read_checkpoint, require_fit, schedule_states
from .checkpoint_folder import CheckpointFolder, Found
from .checkpoint_values import copied, values_of
from .parameters import Path
from .regular_files import path_of
from .values import naming


class Restored(NamedTuple):
    """The checkpoint that CheckpointManager.restore has loaded: step and data as they were saved, and path, its folder.

    Example:
        >>> pm.io.Restored(200, {"epoch": 3}, "run/checkpoint-000001-step-200").data
        {'epoch': 3}
    """

    step: int
    data: Any
    path: str


@answers_names
class CheckpointManager:
    """Saves all that a training run needs to resume with the same bits, and restores it.

    A checkpoint holds the program's persistable variables (parameters, averages, counters, the optimizer's
    accumulators), the executor's random generator, the state of learning-rate schedules, and `data`, such as the
    position in the data set. It is there whole or not at all, whenever the process dies or the disk is full.

    Until close(), or the end of a `with` block or of the manager itself, SIGTERM raises KeyboardInterrupt, as Ctrl-C does,
    unless the program has installed a handler.

    directory: made by prepare() or the first save. keep: how many checkpoints stay; older ones of this directory go after a
    newer one is on the disk. every_steps, every_seconds: when save() does something; both None: each time.
    background: save() copies the values, which takes as much memory again, and a thread writes them while training continues. The
    next call of the manager, or wait(), waits for it and raises its error.

    Example:
        >>> loss = pm.layers.mean(pm.layers.fc(pm.layers.data("x", [-1, 8]), 1))
        >>> ops, gradients = pm.optimizer.Adam(0.001).minimize(loss)
        >>> main, exe = pm.default_main_program(), pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> with pm.io.CheckpointManager("run", keep=2, every_steps=100) as manager:
        ...     path = manager.save(200, main, exe, data={"epoch": 3})
        ...     print(manager.restore(main, exe).data)
        {'epoch': 3}
    """

    def __init__(
        self,
        directory: Path,
        keep: int = 3,
        every_steps: int | None = None,
        every_seconds: float | None = None,
        background: bool = False,
    ):
        if not isinstance(directory, (str, os.PathLike)) or not os.fspath(directory):
            raise ProgramError(f"CheckpointManager: directory is {shown(directory)}, it must be a path")
        self._folder = CheckpointFolder(os.path.abspath(path_of(directory)))
        self.directory = self._folder.path
        self.keep = whole("keep", keep, 1)
        self.every_steps = None if every_steps is None else whole("every_steps", every_steps, 1)
        real = isinstance(every_seconds, numbers.Real) and not isinstance(every_seconds, bool)
        if every_seconds is not None and not (real and every_seconds > 0):
            raise ProgramError(f"CheckpointManager: every_seconds is {shown(every_seconds)}, it must be a number above 0")
        self.every_seconds, self.background = every_seconds, background
        self._pending: BackgroundCall | None = None
        self._last_step, self._last_time = 0, time.monotonic()
        self._leave = weakref.finalize(self, heed_sigterm())
        self._leave.atexit = False

    def prepare(self) -> None:
        """Makes the directory now, so that one that can't be written is a ProgramError before training, not at the first save."""
        self._folder.prepare()

    def close(self) -> None:
        """SIGTERM ends the process again, unless another manager is open. This one saves and restores as before. Raises the error
        of a save in the background that has failed."""
        self._leave()
        self.wait()

    def __enter__(self) -> CheckpointManager:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def save(
        self, step: int, program: Program, exe: Executor, scope: Scope | None = None, data: Any = None, force: bool = False
    ) -> str | None:
        """Saves when that is due, or with force=True, and returns the checkpoint's path; None when it is not due.

        Call it between two runs, after every step. Due: a multiple of every_steps was reached since the last save
        or restore(), or every_seconds have passed. program: the training program. data: anything that JSON gives
        back as it was.

        OpError when a variable has no value, averages are applied, or another process saves here; ProgramError
        for data that is not JSON, and when the disk fails; older checkpoints do not change.
        """
        scope = _require(program, exe, scope)
        step = whole("step", step, 0)
        if not force and not self._is_due(step):
            return None
        self.wait()
        facts = {"step": step, "data": _plain_data(data), "schedules": schedule_states(program), "program": program_sum(program)}
        names = held_names(program, scope)
        with values_of(names, scope, exe) as values:
            if not self.background:
                path = self._folder.write(step, facts, values, self.keep)
            else:
                path, values = self._folder.next_path(step), copied(values)
                self._pending = BackgroundCall(lambda: self._folder.write(step, facts, values, self.keep))
        self._last_step, self._last_time = step, time.monotonic()
        return path

    def wait(self) -> None:
        """Returns when no save is in progress, and raises the error of the last one. Without background it has no effect."""
        if self._pending is not None:
            self._pending.wait()  # when that is interrupted, the next call waits for the same save
            self._pending = None

    def restore(
        self,
        program: Program,
        exe: Executor,
        scope: Scope | None = None,
        step: int | None = None,
        check: Callable[[Restored], None] | None = None,
    ) -> Restored:
        """Restores the newest checkpoint, or the newest of a step, instead of running the startup program.

        check: called with what is to be returned before anything changes; an error that it raises leaves all as it was.

        A damaged checkpoint is left out, with a warning, and the one saved before it is taken. ProgramError when
        none exists; ProgramError or ShapeError if it does not fit the program, and a warning when it fits a
        program that has changed; OpError while averages are applied. All is read and checked before anything in
        scope, executor or schedules changes.
        """
        scope = _require(program, exe, scope)
        step = None if step is None else whole("step", step, 0)
        self.wait()
        damaged = []
        for found in reversed(self._folder.found()):
            if step is not None and found.step != step:
                continue
            try:
                checkpoint = read_checkpoint(found.path)
                _require_step(checkpoint.step, found)
                break
            except ProgramError as error:
                damaged.append(str(error))
        else:
            which = "no checkpoint" if step is None else f"no checkpoint of step {step}"
            raise ProgramError(
                f"there is {which} in '{self.directory}'"
                if not damaged
                else f"{which} in '{self.directory}' is whole: " + "; ".join(damaged)
            )
        with naming(found.path):
            require_fit(checkpoint, program, exe, scope)
        for problem in damaged:
            warn(f"{printable(problem, 2000)}; '{printable(found.path)}' is taken")
        if checkpoint.program != program_sum(program):
            warn(f"the program has changed since '{printable(found.path)}' was saved; its variables fit")
        restored = Restored(found.step, checkpoint.data, found.path)
        if check is not None:
            check(restored)
        put_back(checkpoint, program, exe, scope)
        self._last_step, self._last_time = found.step, time.monotonic()
        return restored

    def steps(self) -> list[int]:
        """The steps of all checkpoints, ascending, by their names: restore() detects damaged ones."""
        self.wait()
        return sorted({found.step for found in self._folder.found()})

    def latest(self) -> int | None:
        """The last saved step, by its name; None without checkpoints."""
        self.wait()
        return next((found.step for found in reversed(self._folder.found())), None)

    def _is_due(self, step: int) -> bool:
        if self.every_steps is None and self.every_seconds is None:
            return True
        # Another interval than the last one's: also when steps are left out, or go back.
        by_steps = self.every_steps is not None and step // self.every_steps != self._last_step // self.every_steps
        return by_steps or (self.every_seconds is not None and time.monotonic() - self._last_time >= self.every_seconds)


def _require_step(step: Any, found: Found) -> None:
    if step != found.step:
        raise ProgramError(f"'{found.path}' is of step {shown(step)}, which differs from its name")


def _require(program: Any, exe: Any, scope: Any) -> Scope:
    for what, value, kind in (("program", program, Program), ("exe", exe, Executor)):
        if not isinstance(value, kind):
            raise ProgramError(f"{what} is of type {type(value).__name__}, it must be of type {kind.__name__}")
    return scope_or_global(scope)


def _plain_data(data: Any) -> Any:
    """A copy, which stays when the caller's object changes before it is written."""
    try:
        if (copy := json.loads(json.dumps(data))) == data:
            return copy
    except (TypeError, ValueError, RecursionError):
        pass
    raise ProgramError(
        f"data is {repr(data)[:200]}, which JSON does not give back as it is: use dicts with string "
        "keys, lists, strings, numbers, True, False and None"
    )
