# coordinator.json: what a coordinator must know after a restart; whole at any moment, and known to be so.
from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from ...errors import shown
from ...io.regular_files import open_regular, replace_file
from ..errors import StorageError, WrongJob, WrongVersion

NAME = "coordinator.json"
FORMAT = 1


def read_state(directory: str, job: str) -> dict[str, Any] | None:
    """What write_state was given last; None when there is no file. WrongJob for another job's; WrongVersion;
    StorageError for one that can't be read, or is not what was written."""
    path = os.path.join(directory, NAME)
    try:
        with open(path, "rb", opener=open_regular) as file:
            data = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"can't read '{path}': {error.strerror or error}") from None
    try:
        facts = json.loads(data)["coordinator"]
        whole = _spelled(facts) == data
    except (ValueError, KeyError, TypeError, RecursionError):
        whole = False
    if not whole:
        raise StorageError(
            f"'{path}' is cut off or damaged; without it the job would elect and read anew what it has "
            "done: put back a copy, or begin in an empty directory"
        )
    if facts.get("format") != FORMAT:
        raise WrongVersion(f"'{path}' is of format {shown(facts.get('format'))}, {FORMAT} is known")
    if facts["job"] != job:
        raise WrongJob(f"'{directory}' is of job {shown(facts['job'])}, not of {shown(job)}: a job has a directory of its own")
    state: dict[str, Any] = facts["state"]
    return state


def write_state(directory: str, job: str, state: dict[str, Any]) -> None:
    """The state is on the disk when this returns. StorageError: what was there before still is, or this."""
    path = os.path.join(directory, NAME)
    try:
        os.makedirs(directory, exist_ok=True)
        replace_file(path, _spelled({"format": FORMAT, "job": job, "state": state}))
    except OSError as error:
        raise StorageError(f"can't write '{path}': {error.strerror or error}") from None


def _spelled(facts: Any) -> bytes:
    text = json.dumps(facts, allow_nan=False)
    return f'{{"sha256": "{hashlib.sha256(text.encode()).hexdigest()}", "coordinator": {text}}}'.encode("ascii")
