# Splits even the shortest loops among threads, so that small cases test the splits of large ones.
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import paddle_mini as pm
from paddle_mini import _core

MANY = (1, 2, 3, 5, 8)  # numbers of threads: one, and splits that are even and uneven


@contextmanager
def threads(count: int, shortest: float | None = 1) -> Iterator[None]:
    """Inside the context, executors use this many threads, and split loops of `shortest` nanoseconds; None: as usual."""
    before = pm.num_threads()
    pm.set_num_threads(count)
    if shortest:
        _core.set_least_loop(shortest)
    try:
        yield
    finally:
        pm.set_num_threads(before)
        _core.set_least_loop()


def with_each(counts: Sequence[int], run: Callable[[], Any], shortest: float | None = 1) -> list[Any]:
    """The result of run() with each number of threads."""
    results = []
    for count in counts:
        with threads(count, shortest):
            results.append(run())
    return results
