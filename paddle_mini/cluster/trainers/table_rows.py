# TableRows: the rows of a table that a run reads; only these are pulled before the run.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._core import Scope
from ...executor import Executor
from ...program import Program
from ...scope import LoDTensor
from .transpile import Trained


class TableRows:
    """One table of a trainer. source: the key of rows_of(); tables with equal sources have the same rows."""

    def __init__(self, table: Trained, exe: Executor):
        assert table.ids is not None
        self.source, self._exe = (tuple(sorted(table.ids)), table.shape[0]), exe
        self._program = Program()
        block = self._program.global_block()
        block.create_var(table.name, shape=table.shape, dtype=table.dtype, persistable=True)
        block.create_var("rows", shape=[-1], dtype="int64", need_check_feed=True)
        block.create_var("values", shape=[-1, *table.shape[1:]], dtype=table.dtype, need_check_feed=True)
        block.append_op(
            "scatter", {"X": table.name, "Ids": "rows", "Updates": "values"}, {"Out": table.name}, {"overwrite": True}
        )

    def rows_of(self, feed: Mapping[str, Any]) -> np.ndarray:
        """Row indices, int64, ascending. The operator reports indices that are out of range."""
        feeds, height = self.source
        named: list[np.ndarray] = [np.zeros(0, np.int64)]
        for name in feeds:
            value = feed.get(name, ())
            named.append(np.ravel(value.array if isinstance(value, LoDTensor) else value).astype(np.int64))
        rows = np.sort(np.concatenate(named))
        begin, end = np.searchsorted(rows, (0, height))
        return _each_once(rows[begin:end])

    def write(self, scope: Scope, rows: np.ndarray, values: np.ndarray) -> None:
        """Writes the rows into the trainer's table. Each number of rows needs a plan, so the last row is repeated up to
        a power of two: few plans serve all batches."""
        if len(rows):
            padding = (1 << (len(rows) - 1).bit_length()) - len(rows)
            rows = np.concatenate([rows, np.repeat(rows[-1:], padding)])
            values = np.concatenate([values, np.repeat(values[-1:], padding, axis=0)])
            self._exe.run(self._program, {"rows": rows, "values": values}, [], scope)


def rows_of_all(found: Sequence[np.ndarray]) -> np.ndarray:
    """The rows of several batches, ascending, of the rows of each."""
    return found[0] if len(found) == 1 else _each_once(np.sort(np.concatenate(found)))


def _each_once(rows: np.ndarray) -> np.ndarray:
    """Ascending rows without repetitions; np.unique() takes four times as long as sort() and this."""
    return rows[np.append(True, rows[1:] != rows[:-1])] if len(rows) else rows
