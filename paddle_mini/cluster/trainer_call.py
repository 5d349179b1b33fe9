# The call of a trainer's function.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import ClusterError


def call(train_fn: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The result of the function; None if it ends with sys.exit(), ClusterError if that has another status than 0: the end of
    a process would be taken for its death."""
    try:
        return train_fn(*args)
    except SystemExit as end:
        if end.code not in (None, 0):
            raise ClusterError(f"it ended with status {end.code}").with_traceback(end.__traceback__) from end
        return None
