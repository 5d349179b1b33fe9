# Arguments of run(), join() and save_model(), checked before anything starts.
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from .._core import printable
from ..errors import listed, near, shown
from ..io.parameters import Path
from ..io.regular_files import path_of
from .errors import Malformed
from .job_settings import JobSettings
from .object_store import is_url


def require_arguments(
    run: Callable[..., Any], train_fn: Any, args: Any, restarts: Any, on_status: Any, settings: Mapping[str, Any]
) -> None:
    """Malformed, or TypeError for a name that run() does not know. settings: what it takes besides its parameters."""
    known = {*inspect.signature(run).parameters, *(one.name for one in fields(JobSettings))} - {"settings"}
    unknown = next((name for name in settings if name not in known), None)
    if unknown is not None:
        raise TypeError(f"run() has no argument '{unknown}'{near(unknown, known) or f'; it has {listed(sorted(known))}'}")
    if not callable(train_fn):
        raise Malformed(f"run() takes the function that each trainer runs, not {shown(train_fn)}: give it without calling it")
    if not isinstance(args, (list, tuple)):
        raise Malformed(f"args is {shown(args)}, it must be a list or tuple of the function's arguments")
    if on_status is not None and not callable(on_status):
        raise Malformed(f"on_status is {shown(on_status)}, it must be a function of a Snapshot")
    if type(restarts) is not int or restarts < 0:
        raise Malformed(f"restarts is {shown(restarts)}, it must be an integer, at least 0")


def require_types(**arguments: tuple[Any, type]) -> None:
    """Malformed for an argument of join() that is not of its type."""
    for name, (value, kind) in arguments.items():
        if not isinstance(value, kind):
            raise Malformed(f"join(): {name} is {shown(value)}, it must be of type {kind.__name__}")


def require_folder(directory: Path) -> None:
    """Malformed for the URL of an object store, of which save_model() would make folders with odd names."""
    if is_url(directory):
        raise Malformed(f"save_model() writes to a folder of a file system, '{printable(path_of(directory))}' is an object store")
