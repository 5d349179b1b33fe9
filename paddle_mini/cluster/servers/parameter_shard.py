# One block of a parameter at its server: the values with their optimizer, and which gradients fit.
from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..._core import Error, ShapeError, printable
from ...optimizer.native import NativeOptimizer, NotFiniteError
from ..errors import ClusterError, Malformed, NotFinite, UnknownParameter, WrongDtype, WrongRow, WrongShape
from ..shards import Block, ParameterInfo, block_shape, check_block
from ..values import BlockKey
from ..wire import field


def about(info: ParameterInfo, block: Block) -> dict[str, Any]:
    """A block and its parameter as JSON, for checkpoints."""
    return {**info._asdict(), **block._asdict(), "shape": list(info.shape)}


def from_about(facts: Mapping[str, Any]) -> tuple[ParameterInfo, Block]:
    """What about() made into JSON; Malformed for a block that its parameter does not have."""
    shape = field(facts, "shape", list)
    if not all(isinstance(dim, int) and not isinstance(dim, bool) for dim in shape):
        raise Malformed("'shape' must be a list of whole numbers")
    name = field(facts, "parameter", str)
    sparse, whole = field(facts, "sparse", bool), field(facts, "whole", bool)
    info = ParameterInfo(name, tuple(shape), field(facts, "dtype", str), sparse, whole)
    block = Block(name, *(field(facts, word, int) for word in ("number", "begin", "end", "server")))
    check_block(info, block)
    return info, block


class ParameterShard:
    """A block with its optimizer. Values on the wire are [elements], or [rows, ...] of a table; rows are numbered as in
    the whole table.

    config: bytes of an OptimizerConfig. value: the beginning; state: what a checkpoint kept, in place of it. Malformed
    when the configuration can't be, or can't do a table's rows.
    """

    def __init__(
        self, info: ParameterInfo, block: Block, config: bytes, value: np.ndarray | None = None, state: bytes | None = None
    ):
        self.info, self.block, self.config = info, block, config
        self.key = BlockKey(info.name, block.number)
        shape = block_shape(info, block)
        begin = np.zeros(shape, info.dtype) if value is None else self._fitting(value, shape)
        try:
            if info.sparse:  # found out here, and not by the first push, half of which may have been applied
                row = np.zeros((1, *info.unit_shape), info.dtype)
                NativeOptimizer(config, row).update_rows([0], row)
            self.native = NativeOptimizer(config, begin, state)
        except Error as error:
            raise Malformed(f"the optimizer of '{printable(info.name)}': {error}") from None

    def take(self, values: np.ndarray, rows: np.ndarray | None = None) -> ShardUpdate:
        """A gradient or a difference for this block; WrongShape, WrongDtype, WrongRow when it does not fit. rows: of
        tables."""
        if rows is None:
            return ShardUpdate(self, self._fitting(values, block_shape(self.info, self.block)), None)
        inside = self._inside(rows)
        return ShardUpdate(self, self._fitting(values, (len(inside), *self.info.unit_shape)), inside)

    def values(self, average: int | None = None) -> np.ndarray:
        """A copy of the values, or of an average."""
        with translate_errors(self):
            return self.native.parameter() if average is None else self.native.average(average)

    def row_values(self, rows: np.ndarray, average: int | None = None) -> np.ndarray:
        """A copy of some of a table's rows."""
        inside = self._inside(rows)
        with translate_errors(self):
            return self.native.rows(inside) if average is None else self.native.average(average)[inside]

    def _inside(self, rows: np.ndarray) -> np.ndarray:
        """Rows counted from the block's begin."""
        name, begin, end = self.info.name, self.block.begin, self.block.end
        if not self.info.sparse:
            raise WrongShape(f"'{printable(name)}' is not a table: it has no rows")
        if rows.ndim != 1:
            raise WrongShape(f"rows of '{printable(name)}' are {list(rows.shape)}, they must be a list")
        if rows.dtype != np.int64:
            raise WrongDtype(f"rows of '{printable(name)}' are {rows.dtype}, they must be int64")
        outside = (rows < begin) | (rows >= end)
        if outside.any():
            raise WrongRow(
                f"row {rows[outside][0]} of '{printable(name)}' is not in block {self.block.number}, rows {begin} to {end - 1}"
            )
        return rows - begin

    def _fitting(self, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        where = f"block {self.block.number} of '{printable(self.info.name)}'"
        if values.dtype != self.info.dtype:
            raise WrongDtype(f"an array for {where} is {values.dtype}, it must be {self.info.dtype}")
        if values.shape != shape:
            raise WrongShape(f"an array for {where} is {list(values.shape)}, it must be {list(shape)}")
        return values


class ShardUpdate(NamedTuple):
    """What a push has for one block. rows: of a table, counted from the block's begin."""

    shard: ParameterShard
    values: np.ndarray
    rows: np.ndarray | None

    def copied(self) -> ShardUpdate:
        """With values of its own."""
        return self._replace(values=self.values.copy())


def digest(config: bytes) -> str:
    """What tells one OptimizerConfig from another in a short message."""
    return hashlib.sha256(config).hexdigest()[:16]


def named(shards: Mapping[BlockKey, ParameterShard], keys: Sequence[BlockKey]) -> list[ParameterShard]:
    """The blocks with these keys, in their order; UnknownParameter; Malformed for one that is there twice."""
    found: dict[BlockKey, ParameterShard] = {}
    for key in keys:
        if key not in shards:
            raise UnknownParameter(f"there is no block {key.number} of '{printable(key.parameter)}' here")
        if key in found:
            raise Malformed(f"block {key.number} of '{printable(key.parameter)}' is there twice")
        found[key] = shards[key]
    return list(found.values())


def mean(updates: list[ShardUpdate], count: int) -> ShardUpdate:
    """The sum of one block's parts, in their order, over count: the gradient of one batch made of count equal ones.
    Rows that several parts have are summed in the same order, so that a table gets the bits of a dense gradient."""
    if count == 1:
        return updates[0]
    shard, first, rows = updates[0]
    if rows is None:
        total = first.copy()
        for update in updates[1:]:
            total += update.values
    else:
        rows, places = np.unique(np.concatenate([update.rows for update in updates]), return_inverse=True)
        total = np.zeros((len(rows), *shard.info.unit_shape), first.dtype)
        np.add.at(total, places, np.concatenate([update.values for update in updates]))
    total /= count
    return ShardUpdate(shard, total, rows)


@contextmanager
def translate_errors(shard: ParameterShard) -> Iterator[None]:
    """What the optimizer refuses inside, in the cluster's words."""
    try:
        yield
    except ClusterError:
        raise
    except Error as error:
        kind = {NotFiniteError: NotFinite, ShapeError: WrongShape}.get(type(error), ClusterError)
        raise kind(f"block {shard.block.number} of '{printable(shard.info.name)}': {error}") from None
