# Means: the values of many batches as one, weighted by their rows.
from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from .._core import Scope
from ..executor import Executor
from ..feeds import bfloat16_values
from ..program import Program
from ..variable import Variable
from .batches import Batches


class Means:
    """Means of values over batches, weighted by rows: each batch gives a mean over its rows."""

    def __init__(self, names: Iterable[str]):
        self.sums = dict.fromkeys(names, 0.0)
        self.rows = 0

    def add(self, values: Iterable[np.ndarray], rows: int) -> dict[str, float]:
        """Adds the values of a batch; returns them by name."""
        found = {name: float(bfloat16_values(value).reshape(())) for name, value in zip(self.sums, values)}
        for name, value in found.items():
            self.sums[name] += value * rows
        self.rows += rows
        return found

    def values(self) -> dict[str, float]:
        return {name: total / self.rows if self.rows else float("nan") for name, total in self.sums.items()}


def means_of(
    measures: Mapping[str, Variable], program: Program, batches: Batches, epoch: int, exe: Executor, scope: Scope
) -> dict[str, float]:
    """The means of the measures over an epoch of batches."""
    means = Means(measures)
    for feed in batches.epoch(epoch):
        means.add(exe.run(program, feed, list(measures.values()), scope), batches.rows(feed))
    return means.values()
