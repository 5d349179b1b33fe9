# Undo: rolls back the changes of a request that fails.
from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any


@contextmanager
def all_or_nothing(*parts: Any) -> Iterator[None]:
    """When the block raises, restores the attributes of these objects, with the elements of lists, dictionaries and
    queues. Elements must be replaced inside the block, not modified in place.

    The copies are shallow, which takes microseconds; a snapshot takes milliseconds.
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
