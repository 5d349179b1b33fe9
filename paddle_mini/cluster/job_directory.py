# The directory of a job, which one job uses at a time.
from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ..io.parameters import Path
from ..io.regular_files import open_regular, path_of
from .errors import StorageError, WrongJob, storage_errors
from .object_store import is_url
from .servers.checkpoint_file import is_checkpoint
from .trainer_checkpoints import FOLDER

LOCK = "job.lock"


@contextmanager
def job_directory(directory: Path | None) -> Iterator[str]:
    """The directory, locked for this job, or the URL, which can't be locked."""
    if directory is None:
        with tempfile.TemporaryDirectory(prefix="paddle_mini_job_") as folder:
            yield folder
        return
    if is_url(directory):
        yield os.fspath(directory)
        return
    if not path_of(directory):
        raise StorageError("directory is an empty text: give the path of a folder, or None for a temporary one")
    folder = os.path.abspath(path_of(directory))
    with storage_errors(f"can't use '{folder}'"):
        os.makedirs(folder, exist_ok=True)
        lock = open_regular(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
    with os.fdopen(lock, "wb"):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StorageError(f"a job runs in '{folder}': give each job its own directory") from None
        yield folder


def require_kind(folder: str, is_collective: bool) -> None:
    """WrongJob for the folder of a job that has servers, where this one has none, or the other way round: it would begin with
    new parameters, and with the data tasks that the other one has left."""
    with storage_errors(f"can't use '{folder}'"):
        has_servers = any(is_checkpoint(name) for name in os.listdir(folder))
        trainers = os.path.join(folder, FOLDER)
        has_trainers = os.path.isdir(trainers) and bool(os.listdir(trainers))
    if has_servers if is_collective else has_trainers:
        whose = "servers, which collective mode has not" if is_collective else "trainers, from which only collective mode resumes"
        raise WrongJob(f"'{folder}' has checkpoints of {whose}: give this job its own directory")
