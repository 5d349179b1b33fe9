# Undo: a request that fails leaves nothing of what it had changed.
from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any


@contextmanager
def all_or_nothing(*parts: Any) -> Iterator[None]:
    """When an error comes out of it, the attributes of these objects are again what they are now: numbers, and lists,
    dictionaries and queues with what they have inside. Things inside must be replaced then, not changed.

    Those are copied and nothing else, which takes microseconds where a snapshot takes milliseconds.
    """
    before = [
        {name: copy(value) if isinstance(value, (dict, list, deque)) else value for name, value in vars(part).items()}
        for part in parts
    ]
    try:
        yield
    except BaseException:
        for part, attributes in zip(parts, before):
            vars(part).update(attributes)
        raise
