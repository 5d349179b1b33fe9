# Saving a model: the elected trainer writes it atomically to its own folder.
"""
    DIRECTORY/ID/             the model, which gets this name when it is complete on the disk
    DIRECTORY/ID.previous/    the previous model, also complete, while it is being replaced
    DIRECTORY/.ID.XXXXXXXX/   a model that is being written or removed

ID is the trainer's. Two trainers that both consider themselves elected write to different folders.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import numpy as np

from ..._core import OpError, printable
from ...errors import shown
from ...io.model import Vars, inference_program
from ...io.model_in_pieces import InPieces, write_model_in_pieces
from ...io.parameters import Path, parameter_names
from ...io.regular_files import sync_directory
from ...program import Program
from ..errors import Malformed, StaleToken, StorageError, storage_errors

ALONE = "0"
"""The id of the trainer that saves if no coordinator elects one."""
MODEL = "model"

Approve = Callable[[bool], int | None]
Write = Callable[[str], None]
Values = Callable[[Sequence[str]], Iterable[InPieces]]


def save_elected(
    directory: Path,
    trainer_id: str,
    approve: Approve,
    write: Write,
    elected: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> str | None:
    """Writes a model to directory/trainer_id if this trainer is elected; returns that path, or None for "not you".

    approve(saves): the token of the coordinator's approval, or None; saves: whether the model is still to be written. It
    is called again when the model is written. If another trainer was elected since, StaleToken is raised, and that
    trainer's model is the one to use. write(folder) fills an empty folder; inside elected() this trainer stays elected.
    Errors of approve and write propagate; StorageError: the disk fails. After an error the name has the previous model,
    or all of this one.
    """
    _require_id(trainer_id)
    token = approve(True)
    if token is None:
        return None

    def still_elected() -> None:
        now = approve(False)
        if now != token:
            raise StaleToken(
                f"trainer {trainer_id} was lost while it saved to '{os.fspath(directory)}', and another one was elected since"
            )

    with elected():
        return _save(os.fspath(directory), trainer_id, write, still_elected)


def save_alone(directory: Path, write: Write, trainer_id: str = ALONE) -> str | None:
    """save_elected without a coordinator: only the trainer with id "0", the id on a single machine, saves."""
    _require_id(trainer_id)
    return _save(os.fspath(directory), trainer_id, write, lambda: None) if trainer_id == ALONE else None


def model_writer(values: Values, feed_vars: Vars, fetch_vars: Vars, program: Program | None = None) -> Write:
    """The `write` argument of save_elected: writes model.pdmodel and model.pdiparams, as io.save_inference_model does.

    values(names): the persistable variables of the model with these names, in their order: averages of averaged parameters,
    and all rows of tables. Each is written before the next is read, so a model may be larger than the memory.
    """

    def write(folder: str) -> None:
        model = inference_program(feed_vars, fetch_vars, program)
        write_model_in_pieces(os.path.join(folder, MODEL), model, values(parameter_names(model)))

    return write


def values_of(arrays: Callable[[], Mapping[str, np.ndarray]]) -> Values:
    """The values for model_writer() where all are in memory; OpError for one that is missing."""

    def values(names: Sequence[str]) -> list[InPieces]:
        found = arrays()
        for name in names:
            if name not in found:
                raise OpError(f"'{printable(name)}' has no value in the scope to be saved")
        return [InPieces.whole(found[name]) for name in names]

    return values


def _save(directory: str, trainer_id: str, write: Write, check: Callable[[], None]) -> str:
    path = os.path.join(directory, trainer_id)
    new = _hidden(path)
    with storage_errors(f"can't save to '{directory}'"):
        os.makedirs(directory, exist_ok=True)
        _tidy(path)
        os.mkdir(new)
    try:
        write(new)
        with storage_errors(f"can't save to '{directory}'"):
            _sync_tree(new)
            check()
            _put_in_place(new, path)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return path


def _put_in_place(new: str, path: str) -> None:
    """A folder can't replace one that is not empty, so the old one is renamed first; after a crash in between it is
    complete under that name, and the next save restores it."""
    previous = path + ".previous"
    if os.path.lexists(path) and not os.path.isdir(path):
        raise StorageError(f"'{path}' is a file, where the folder of a model should be")
    if os.path.isdir(path):
        os.rename(path, previous)
    try:
        os.rename(new, path)
    except BaseException:
        with suppress(OSError):
            os.rename(previous, path)
        raise
    sync_directory(os.path.dirname(path))
    if os.path.isdir(previous):
        os.rename(previous, new)
        shutil.rmtree(new, ignore_errors=True)


def _tidy(path: str) -> None:
    """Cleans up after earlier incarnations of this trainer that ended while they saved."""
    directory, trainer_id = os.path.split(path)
    if os.path.isdir(path + ".previous"):
        os.rename(path + ".previous", _hidden(path) if os.path.lexists(path) else path)
    unfinished = re.compile(rf"\.{re.escape(trainer_id)}\.[0-9a-f]{{8}}")
    for name in os.listdir(directory):
        if unfinished.fullmatch(name):
            shutil.rmtree(os.path.join(directory, name), ignore_errors=True)


def _hidden(path: str) -> str:
    """The name of a temporary folder beside a folder; the next save removes it if it still exists."""
    directory, trainer_id = os.path.split(path)
    return os.path.join(directory, f".{trainer_id}.{uuid.uuid4().hex[:8]}")


def _sync_tree(folder: str) -> None:
    for root, _, names in os.walk(folder):
        for name in names:
            descriptor = os.open(os.path.join(root, name), os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_directory(root)


def _require_id(trainer_id: Any) -> None:
    """Malformed for an id that can't be the name of a folder."""
    if (
        not isinstance(trainer_id, str)
        or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", trainer_id)
        or trainer_id.endswith(".previous")
    ):
        raise Malformed(
            f"trainer id {shown(trainer_id)}: it must be letters, digits, '.', '_' and '-', at most 100, and "
            "begin with a letter or digit"
        )
