# coordinator.json: the durable state of a coordinator, replaced atomically, with a checksum.
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
    """The state that write_state wrote last; None if the file does not exist. WrongJob for a file of another job;
    WrongVersion; StorageError for a file that can't be read or is damaged."""
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
            f"'{path}' is truncated or damaged; without it the job would repeat elections and tasks that are "
            "done: restore a copy, or use an empty directory"
        )
    if facts.get("format") != FORMAT:
        raise WrongVersion(f"'{path}' has format {shown(facts.get('format'))}, only {FORMAT} is supported")
    if facts["job"] != job:
        raise WrongJob(f"'{directory}' belongs to job {shown(facts['job'])}, not {shown(job)}: give each job its own directory")
    state: dict[str, Any] = facts["state"]
    return state


def write_state(directory: str, job: str, state: dict[str, Any]) -> None:
    """Writes the state durably. On StorageError the file has either the previous state or this one."""
    path = os.path.join(directory, NAME)
    try:
        os.makedirs(directory, exist_ok=True)
        replace_file(path, _spelled({"format": FORMAT, "job": job, "state": state}))
    except OSError as error:
        raise StorageError(f"can't write '{path}': {error.strerror or error}") from None


def _spelled(facts: Any) -> bytes:
    text = json.dumps(facts, allow_nan=False)
    return f'{{"sha256": "{hashlib.sha256(text.encode()).hexdigest()}", "coordinator": {text}}}'.encode("ascii")
