# Saving a model: by the trainer that was elected, to a folder of its own, whole or not at all.
"""
    DIRECTORY/ID/             the model, under this name only when all of it is on the disk
    DIRECTORY/ID.previous/    the one before, whole too, for the moment in which its place is taken
    DIRECTORY/.ID.XXXXXXXX/   one that is being written, or removed

ID is the trainer's. Trainers that both believe to be elected write to different folders, so that both models are whole.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import numpy as np

from ..._core import Scope
from ...errors import shown
from ...io.model import Vars, save_inference_model
from ...io.parameters import Path
from ...io.regular_files import sync_directory
from ...program import Program
from ..errors import Malformed, StaleToken, StorageError, storage_errors

ALONE = "0"
"""The id of the trainer that saves where there is no coordinator to elect one."""
MODEL = "model"

Ask = Callable[[], int | None]
Write = Callable[[str], None]
Values = Callable[[], Mapping[str, np.ndarray]]


def save_elected(
    directory: Path, trainer_id: str, ask: Ask, write: Write, elected: Callable[[], AbstractContextManager[None]] = nullcontext
) -> str | None:
    """Writes a model to directory/trainer_id if this trainer is elected; returns that path, or None for "not you".

    ask(): the token of the coordinator's approval, or None; it is asked once more when all is written, and if another
    trainer was approved since, StaleToken is raised and the model of that one is the one to use. write(folder) fills an
    empty folder; inside of elected() this trainer stays the elected one. What ask and write raise goes on to the caller;
    StorageError: the disk refuses. The name then has the model that it had before, or else all of this one.
    """
    _require_id(trainer_id)
    token = ask()
    if token is None:
        return None

    def still_elected() -> None:
        now = ask()
        if now != token:
            raise StaleToken(
                f"saving to '{os.fspath(directory)}' took longer than trainer {trainer_id} was elected "
                "for, and another one was elected since"
            )

    with elected():
        return _save(os.fspath(directory), trainer_id, write, still_elected)


def save_alone(directory: Path, write: Write, trainer_id: str = ALONE) -> str | None:
    """save_elected without a coordinator: the trainer with id "0", which is that of a single machine, saves, and the
    others do not."""
    _require_id(trainer_id)
    return _save(os.fspath(directory), trainer_id, write, lambda: None) if trainer_id == ALONE else None


def model_writer(values: Values, feed_vars: Vars, fetch_vars: Vars, program: Program | None = None) -> Write:
    """What save_elected takes as `write`: it makes model.pdmodel and model.pdiparams, as io.save_inference_model.

    values(): the arrays of all persistable variables that this takes, by name: averages where parameters are averaged,
    and all rows of tables. They are in a scope of their own, so that training's stay what they are.
    """

    def write(folder: str) -> None:
        scope = Scope()
        for name, array in values().items():
            scope.set(name, array)
        save_inference_model(os.path.join(folder, MODEL), feed_vars, fetch_vars, program=program, scope=scope)

    return write


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
    """A folder can't take the name of one that is not empty, so the old one steps aside first; should this end in
    between, it is whole where it stands, and the next save puts it back."""
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
    """Earlier lives of this trainer may have ended while they saved."""
    directory, trainer_id = os.path.split(path)
    if os.path.isdir(path + ".previous"):
        os.rename(path + ".previous", _hidden(path) if os.path.lexists(path) else path)
    unfinished = re.compile(rf"\.{re.escape(trainer_id)}\.[0-9a-f]{{8}}")
    for name in os.listdir(directory):
        if unfinished.fullmatch(name):
            shutil.rmtree(os.path.join(directory, name), ignore_errors=True)


def _hidden(path: str) -> str:
    """A name beside a folder for what is not whole: removed by the next save if it is still there."""
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
    """It becomes the name of a folder."""
    if (
        not isinstance(trainer_id, str)
        or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", trainer_id)
        or trainer_id.endswith(".previous")
    ):
        raise Malformed(
            f"trainer id {shown(trainer_id)}: it must be letters, digits, '.', '_' and '-', at most 100, and "
            "begin with a letter or digit"
        )
