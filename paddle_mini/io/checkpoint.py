# CheckpointManager: writes, rotates and restores the checkpoints in a folder.
from __future__ import annotations

import fcntl
import json
import numbers
import os
import re
import secrets
import time
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from .._core import OpError, ProgramError, Scope, printable
from ..errors import shown
from ..executor import Executor
from ..program import Program
from ..scope import global_scope
from ..termination import heed_sigterm
from .checkpoint_files import (
    FILES,
    held_names,
    naming_failures,
    program_sum,
    put_back,
    read_checkpoint,
    read_manifest,
    require_fit,
    schedule_states,
    write_checkpoint,
)
from .parameters import Path
from .regular_files import open_regular, path_of, sync_directory
from .values import naming

# checkpoint-NUMBER-step-STEP: the number rises with every save, also when training went back to an earlier step.
_NAME = re.compile(r"checkpoint-([0-9]{6,})-step-(0|[1-9][0-9]*)")

# Locked during a save. It holds a random id that the folder's manifests repeat: checkpoints that were copied here from
# another folder are read but never removed.
_OWNER = ".checkpoints"
_OWNER_ID = re.compile(r"[0-9a-f]{32}")


class Restored(NamedTuple):
    """The checkpoint that CheckpointManager.restore has loaded."""

    step: int
    data: Any
    path: str


class _Found(NamedTuple):
    number: int
    step: int
    path: str


class CheckpointManager:
    """Saves all that a training run needs to resume with the same bits, and restores it.

    A checkpoint holds the program's persistable variables (parameters, averages, counters, the optimizer's
    accumulators), the executor's random generator, the state of learning-rate schedules, and `data`, such as the
    position in the data set. It is there whole or not at all, whenever the process dies or the disk is full.

    Until close(), or the end of a `with` block or of the manager itself, SIGTERM raises KeyboardInterrupt, as Ctrl-C does,
    unless the program has installed a handler.

    directory: made by the first save. keep: how many checkpoints stay; older ones of this directory go after a
    newer one is on the disk. every_steps, every_seconds: when save() does something; both None: each time.
    """

    def __init__(self, directory: Path, keep: int = 3, every_steps: int | None = None, every_seconds: float | None = None):
        if not isinstance(directory, (str, os.PathLike)):
            raise ProgramError(f"CheckpointManager: directory is {shown(directory)}, it must be a path")
        self.directory = os.path.abspath(path_of(directory))
        self.keep = _whole("keep", keep, 1)
        self.every_steps = None if every_steps is None else _whole("every_steps", every_steps, 1)
        real = isinstance(every_seconds, numbers.Real) and not isinstance(every_seconds, bool)
        if every_seconds is not None and not (real and every_seconds > 0):
            raise ProgramError(f"CheckpointManager: every_seconds is {shown(every_seconds)}, it must be a number above 0")
        self.every_seconds = every_seconds
        self._last_step, self._last_time = 0, time.monotonic()
        self._leave = weakref.finalize(self, heed_sigterm())
        self._leave.atexit = False

    def close(self) -> None:
        """SIGTERM ends the process again, unless another manager is open. This one saves and restores as before."""
        self._leave()

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
        step = _whole("step", step, 0)
        if not force and not self._is_due(step):
            return None
        facts = {"step": step, "data": _plain_data(data), "schedules": schedule_states(program), "program": program_sum(program)}
        names = held_names(program, scope)
        with naming_failures(f"can't save a checkpoint in '{self.directory}'"), self._owned() as owner:
            self._remove_hidden(owner)
            number = 1 + max((int(name[1]) for name in self._names()), default=0)
            path = os.path.join(self.directory, f"checkpoint-{number:06d}-step-{step}")
            hidden = self._hidden(owner)
            os.mkdir(hidden)
            try:
                write_checkpoint(hidden, {"folder": owner, "number": number, **facts}, names, scope, exe)
                os.rename(hidden, path)
            except BaseException:
                with suppress(OSError):  # the first error is raised; the next save removes the remaining files
                    self._remove_hidden(owner)
                raise
            sync_directory(self.directory)
            self._last_step, self._last_time = step, time.monotonic()
            self._rotate(owner)
        return path

    def restore(self, program: Program, exe: Executor, scope: Scope | None = None, step: int | None = None) -> Restored:
        """Restores the newest checkpoint, or the newest of a step, instead of running the startup program.

        A damaged checkpoint is left out, with a warning, and the one saved before it is taken. ProgramError when
        none exists; ProgramError or ShapeError if it does not fit the program, and a warning when it fits a
        program that has changed; OpError while averages are applied. All is read and checked before anything in
        scope, executor or schedules changes.
        """
        scope = _require(program, exe, scope)
        damaged = []
        for found in reversed(self._found()):
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
            warnings.warn(f"{printable(problem, 2000)}; '{printable(found.path)}' is taken", stacklevel=2)
        if checkpoint.program != program_sum(program):
            warnings.warn(f"the program has changed since '{printable(found.path)}' was saved; its variables fit", stacklevel=2)
        put_back(checkpoint, program, exe, scope)
        self._last_step, self._last_time = found.step, time.monotonic()
        return Restored(found.step, checkpoint.data, found.path)

    def steps(self) -> list[int]:
        """The steps of all checkpoints, ascending, by their names: restore() detects damaged ones."""
        return sorted({found.step for found in self._found()})

    def latest(self) -> int | None:
        """The last saved step, by its name; None without checkpoints."""
        return next((found.step for found in reversed(self._found())), None)

    def _is_due(self, step: int) -> bool:
        if self.every_steps is None and self.every_seconds is None:
            return True
        # Another interval than the last one's: also when steps are left out, or go back.
        by_steps = self.every_steps is not None and step // self.every_steps != self._last_step // self.every_steps
        return by_steps or (self.every_seconds is not None and time.monotonic() - self._last_time >= self.every_seconds)

    @contextmanager
    def _owned(self) -> Iterator[str]:
        """Creates the folder and locks it for one save; returns its id."""
        if not os.path.isdir(self.directory):
            os.makedirs(self.directory)
            sync_directory(os.path.dirname(self.directory))
        path = os.path.join(self.directory, _OWNER)
        descriptor = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OpError(f"another process is saving a checkpoint in '{self.directory}'") from None
            try:
                owner = os.read(descriptor, 64).decode("ascii", "replace")
                if not _OWNER_ID.fullmatch(owner):  # a new file, or an incomplete one
                    owner = secrets.token_hex(16)
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, owner.encode("ascii"), 0)
                    os.fsync(descriptor)
                yield owner
            finally:
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # else a forked child would keep the lock
        finally:
            os.close(descriptor)

    def _hidden(self, owner: str) -> str:
        return os.path.join(self.directory, f".checkpoint-{owner}-{secrets.token_hex(8)}")

    def _remove_hidden(self, owner: str) -> None:
        """Removes files of interrupted saves, and folders that _rotate renamed. The caller holds the lock of the
        folder."""
        with os.scandir(self.directory) as entries:
            hidden = [entry.path for entry in entries if re.fullmatch(f"\\.checkpoint-{owner}-[0-9a-f]{{16}}", entry.name)]
        for path in filter(_holds_only_our_files, hidden):
            for name in os.listdir(path):
                os.unlink(os.path.join(path, name))
            os.rmdir(path)

    def _rotate(self, owner: str) -> None:
        """Renames old checkpoints before it removes them, so that no incomplete one is visible."""
        old = [found.path for found in self._found() if self._is_own(found, owner)][: -self.keep]
        for path in old:
            os.rename(path, self._hidden(owner))
        if old:
            sync_directory(self.directory)
            self._remove_hidden(owner)

    def _is_own(self, found: _Found, owner: str) -> bool:
        """Whether this folder's manager wrote it under this name and no file was added."""
        try:
            facts = read_manifest(found.path)
        except ProgramError:
            return False
        return (facts.get("folder"), facts.get("number")) == (owner, found.number) and _holds_only_our_files(found.path)

    def _names(self) -> list[re.Match[str]]:
        with naming_failures(f"can't read '{self.directory}'"), suppress(FileNotFoundError):
            return [match for match in map(_NAME.fullmatch, os.listdir(self.directory)) if match]
        return []

    def _found(self) -> list[_Found]:
        """Directories with the name of a checkpoint, in the order they were saved."""
        found = [_Found(int(name[1]), int(name[2]), os.path.join(self.directory, name[0])) for name in self._names()]
        return sorted(each for each in found if os.path.isdir(each.path) and not os.path.islink(each.path))


def _require_step(step: Any, found: _Found) -> None:
    if step != found.step:
        raise ProgramError(f"'{found.path}' is of step {shown(step)}, which differs from its name")


def _holds_only_our_files(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path) and FILES.issuperset(os.listdir(path))


def _require(program: Any, exe: Any, scope: Any) -> Scope:
    for what, value, kind in (("program", program, Program), ("exe", exe, Executor), ("scope", scope, Scope)):
        if not isinstance(value, kind) and not (what == "scope" and value is None):
            raise ProgramError(f"{what} is of type {type(value).__name__}, it must be of type {kind.__name__}")
    return global_scope() if scope is None else scope


def _whole(what: str, value: Any, low: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < low:
        raise ProgramError(f"{what} is {shown(value)}, it must be an integer, at least {low}")
    return int(value)


def _plain_data(data: Any) -> Any:
    try:
        if json.loads(json.dumps(data)) == data:
            return data
    except (TypeError, ValueError, RecursionError):
        pass
    raise ProgramError(
        f"data is {repr(data)[:200]}, which JSON does not give back as it is: use dicts with string "
        "keys, lists, strings, numbers, True, False and None"
    )
