# TableRows: the rows of a table that a run reads; only these are pulled before the run.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

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
        """Row indices, int64, ascending. The operator reports indices that are out of range, and the executor says what is wrong
        with a feed that has none."""
        feeds, height = self.source
        named: list[np.ndarray] = [np.zeros(0, np.int64)]
        for name in feeds if isinstance(feed, Mapping) else ():
            value = feed.get(name, ())
            with suppress(TypeError, ValueError, OverflowError):
                named.append(np.ravel(value.array if isinstance(value, LoDTensor) else value).astype(np.int64))
        rows = np.sort(np.concatenate(named))
        begin, end = np.searchsorted(rows, (0, height))
        return _each_once(rows[begin:end])

    def write(self, scope: Scope, rows: np.ndarray, values: Sequence[np.ndarray]) -> None:
        """Writes the rows, whose values come in parts, into the trainer's table. Each number of rows needs a plan, so the
        last row is repeated up to a power of two: few plans serve all batches."""
        if len(rows):
            padding = (1 << (len(rows) - 1).bit_length()) - len(rows)
            rows = np.concatenate([rows, np.repeat(rows[-1:], padding)])
            padded = np.concatenate([*values, np.repeat(values[-1][-1:], padding, axis=0)])
            self._exe.run(self._program, {"rows": rows, "values": padded}, [], scope)


class RowsByBlock(NamedTuple):
    """Rows of a gradient, `given`, for blocks of a table with these edges. rows: the same, block by block; those of one block
    are in the order in which they were given, by `order`. ends: of each block's; order, None: they stay as they are."""

    given: np.ndarray
    edges: np.ndarray
    rows: np.ndarray
    order: np.ndarray | None
    ends: list[int]

    def parts(self, values: np.ndarray) -> Iterator[list[np.ndarray]]:
        """The rows of each block and their values."""
        values = values if self.order is None else values.take(self.order, axis=0)
        for begin, end in zip([0, *self.ends], self.ends):
            yield [self.rows[begin:end], values[begin:end]]


def rows_by_block(rows: np.ndarray, edges: np.ndarray, before: RowsByBlock | None) -> RowsByBlock:
    """before: those of another table, which are the result if rows and edges are the same: so are those of tables that are
    read by the same ids."""
    if before is not None and np.array_equal(before.given, rows) and np.array_equal(before.edges, edges):
        return before
    blocks = len(edges) - 1
    if blocks == 1:
        return RowsByBlock(rows, edges, rows, None, [len(rows)])
    numbers = np.searchsorted(edges[1:-1], rows, side="right").astype(np.min_scalar_type(blocks))
    order = numbers.argsort(kind="stable")  # a radix sort where numbers have 16 bits
    return RowsByBlock(rows, edges, rows.take(order), order, np.bincount(numbers, minlength=blocks).cumsum().tolist())


def rows_of_all(found: Sequence[np.ndarray]) -> np.ndarray:
    """The rows of several batches, ascending, of the rows of each."""
    return found[0] if len(found) == 1 else _each_once(np.sort(np.concatenate(found)))


def _each_once(rows: np.ndarray) -> np.ndarray:
    """Ascending rows without repetitions; np.unique() takes four times as long as sort() and this."""
    return rows[np.append(True, rows[1:] != rows[:-1])] if len(rows) else rows
