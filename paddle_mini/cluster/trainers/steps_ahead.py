# StepsAhead: the steps of mode async whose exchange with the servers continues while the trainer computes.
"""
Batches are read in groups of `merged`. Time goes from left to right; exchange n sends the mean of the gradients of group
n - 2 and gets the parameters for group n:

    exchange:  0 | 1 | 2 | 3 |
    compute:       0 | 1 | 2 | 3

So a group lacks this trainer's own gradients of the one group before it, as it lacks those that others compute meanwhile; and a
trainer waits only where an exchange takes longer than a group. Programs that merge the gradients of several batches into one
message: the communicator of PaddlePaddle's asynchronous mode.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .remote_parameters import Gradient, Pulled, Version

if TYPE_CHECKING:
    from .gradient_step import GradientStep

Feed = Mapping[str, Any]


class _Group(NamedTuple):
    """Batches, each with its pass over the data, for which parameters were asked: `asked` has one element until they are
    taken."""

    batches: list[tuple[Feed, int]]
    asked: list[Future[Pulled]]


class StepsAhead:
    """The steps of one call of Trainer.steps()."""

    def __init__(self, step: GradientStep, merged: int, fetch_list: Sequence[Any], return_numpy: bool):
        self._step, self._merged, self._how = step, merged, (fetch_list, return_numpy)
        self._read: list[tuple[Feed, int]] = []  # for a group that is not complete
        self._next: _Group | None = None
        self._results: deque[list[Any]] = deque()
        self._thread = ThreadPoolExecutor(1, "exchange")

    def results(self, feeds: Iterable[Feed]) -> Iterator[list[Any]]:
        """Those of each batch. Reading one may call settle(), which makes the steps of all that were read before."""
        try:
            for feed in feeds:
                # A loop may fill one dictionary for each batch. The executor refuses other types.
                self._add(dict(feed) if isinstance(feed, Mapping) else feed)
                while self._results:
                    yield self._results.popleft()
            with self._step.turn:
                self.settle()
            while self._results:
                yield self._results.popleft()
        finally:  # when the caller stops early, no step is made of what was read
            with self._step.turn:
                self._read.clear()
                if self._next is not None:
                    self._next.batches.clear()
            self._thread.shutdown(wait=False)

    def _add(self, feed: Feed) -> None:
        with self._step.turn:  # a loader reads in a thread of its own
            self._read.append((feed, self._step.pass_number))
            if len(self._read) >= self._merged:
                self._advance()

    def settle(self) -> None:
        """Makes the steps of the batches that were read, if there are any; the gradients of the last ones are staged."""
        while self._read or self._next is not None:
            self._advance()

    def _advance(self) -> None:
        """Asks for the parameters of the group that was read, if there is one, and computes the one before it."""
        ready, self._next = self._next, None
        if ready is not None:
            self._take(ready)
        versions = list(self._step.versions)
        if self._read:
            batches, self._read = self._read, []
            exchange = self._step.begin_exchange([feed for feed, _ in batches])
            self._next = _Group(batches, [self._thread.submit(copy_context().run, exchange)])
        else:
            self._step.send_staged()
        if ready is not None and ready.batches:
            self._compute(ready.batches, versions)

    def _take(self, ready: _Group) -> None:
        """Writes the parameters of a group. They are in the memory of their messages, which the next exchange needs."""
        pulled = ready.asked.pop().result()
        if ready.batches:
            self._step.take(pulled)

    def _compute(self, batches: Sequence[tuple[Feed, int]], versions: Sequence[Version]) -> None:
        """Also where one of the batches is refused, the gradients of those before it are staged."""
        found = []
        try:
            for feed, _ in batches:
                results, gradients = self._step.compute(feed, *self._how)
                found.append(gradients)
                self._results.append(results)
        finally:
            if found:
                self._step.stage(mean_of(found), batches[len(found) - 1][1], versions)


def mean_of(found: Sequence[Mapping[str, Gradient]]) -> Mapping[str, Gradient]:
    """The mean of several gradients of each parameter. Of tables, rows may be repeated: servers add them."""
    if len(found) == 1:
        return found[0]
    return {name: _mean([one[name] for one in found]) for name in found[0]}


def _mean(some: Sequence[Any]) -> Gradient:
    if isinstance(some[0], tuple):
        rows, values = (np.concatenate(parts) for parts in zip(*some))
        values *= values.dtype.type(1 / len(some))
        return rows, values
    total = some[0] + some[1]
    for value in some[2:]:
        total += value
    total *= total.dtype.type(1 / len(some))
    return total
