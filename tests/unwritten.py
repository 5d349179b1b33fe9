# Fills unwritten memory with one pattern and then another: results must not depend on it.
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from paddle_mini import _core

PATTERNS = (0x55, 0xAA)  # as floats a large number and a small one; as integers far out of any range


@contextmanager
def filled(pattern: int) -> Iterator[None]:
    """Inside the context, unwritten memory holds this byte."""
    _core.set_fill_pattern(pattern)
    try:
        yield
    finally:
        _core.set_fill_pattern(-1)


def under_each(run: Callable[[], Any]) -> list[Any]:
    """The result of run() under each pattern."""
    results = []
    for pattern in PATTERNS:
        with filled(pattern):
            results.append(run())
    return results
