# The directory of a job, which one job uses at a time.
from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ..io.parameters import Path
from ..io.regular_files import open_regular, path_of
from .errors import StorageError, storage_errors
from .object_store import is_url

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
