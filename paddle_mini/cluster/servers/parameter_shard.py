# ParameterShard: one block of a parameter on its server, with its optimizer; validates and applies gradients.
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..._core import Error, ProgramError, ShapeError, printable
from ...optimizer.config import config_class
from ...optimizer.native import NativeOptimizer
from ...optimizer.native_library import NotFiniteError
from ..errors import ClusterError, Malformed, NotFinite, UnknownParameter, WrongDtype, WrongRow, WrongShape
from ..shards import Block, ParameterInfo, block_shape, check_block
from ..values import BlockKey, Part
from ..wire import field

Read = Callable[[], np.ndarray]
"""Copies values that the server has."""


def about(info: ParameterInfo, block: Block) -> dict[str, Any]:
    """Describes a block and its parameter as JSON, for checkpoints."""
    return {**info._asdict(), **block._asdict(), "shape": list(info.shape)}


def from_about(facts: Mapping[str, Any]) -> tuple[ParameterInfo, Block]:
    """The inverse of about(); Malformed for a block that its parameter does not have."""
    shape = field(facts, "shape", list)
    if not all(isinstance(dim, int) and not isinstance(dim, bool) for dim in shape):
        raise Malformed("'shape' must be a list of integers")
    name = field(facts, "parameter", str)
    sparse, whole = field(facts, "sparse", bool), field(facts, "whole", bool)
    info = ParameterInfo(name, tuple(shape), field(facts, "dtype", str), sparse, whole)
    block = Block(name, *(field(facts, word, int) for word in ("number", "begin", "end", "server")))
    check_block(info, block)
    return info, block


class ParameterShard:
    """A block with its optimizer. Values in messages are [elements], or [rows, ...] of a table; row indices are those
    of the whole table.

    config: bytes of an OptimizerConfig. value: the initial values; state: of a checkpoint, instead of value, and changes to
    it. Malformed if the configuration is invalid, or does not support sparse rows of a table.
    """

    def __init__(
        self,
        info: ParameterInfo,
        block: Block,
        config: bytes,
        value: np.ndarray | None = None,
        state: bytes | None = None,
        changes: bytes | None = None,
    ):
        self.info, self.block, self.config = info, block, config
        self.key = BlockKey(info.name, block.number)
        shape = block_shape(info, block)
        begin = np.zeros(shape, info.dtype) if value is None else self._fitting(value, shape)
        try:
            if info.sparse:  # detected here, as the first push would fail after it was partly applied
                row = np.zeros((1, *info.unit_shape), info.dtype)
                NativeOptimizer(config, row).update_rows([0], row)
            self.native = NativeOptimizer(config, begin, state, changes)
        except Error as error:
            raise Malformed(f"the optimizer of '{printable(info.name)}': {error}") from None
        self._pass = 0
        # view() of a table updates its late rows, so each read needs a new one.
        self._view = None if info.sparse else self.native.view()
        self._shape = block_shape(info, block)
        self._dtype = np.dtype(info.dtype)

    def take(self, values: np.ndarray, rows: np.ndarray | None = None) -> ShardUpdate:
        """Validates a gradient or a difference for this block: WrongShape, WrongDtype, WrongRow. rows: of tables."""
        if rows is None:
            if values.shape != self._shape or values.dtype != self._dtype:
                self._fitting(values, self._shape)
            return ShardUpdate(self, values, None)
        inside = self._inside(rows)
        return ShardUpdate(self, self._fitting(values, (len(inside), *self.info.unit_shape)), inside)

    def values(self, average: int | None = None) -> np.ndarray:
        """A copy of the values, or of an average."""
        if self._view is not None and average is None:
            return self._view.copy()
        with translate_errors(self):
            return self.native.parameter() if average is None else self.native.average(average)

    @property
    def is_averaged(self) -> bool:
        """Whether its optimizer keeps averages."""
        return bool(config_class().FromString(self.config).averaging)

    def reading_part(self, part: Part, average: int | None = None) -> Read:
        """Validates a part of the block: Malformed; the function that it returns copies it."""
        if not part.begin <= part.end <= self._shape[0]:
            name = printable(self.info.name)
            raise Malformed(f"{part.begin} to {part.end} is not in block {self.block.number} of '{name}', 0 to {self._shape[0]}")
        return partial(self._part, part, average)

    def _part(self, part: Part, average: int | None) -> np.ndarray:
        with translate_errors(self):
            if average is not None:
                width = prod(self._shape[1:])
                values = self.native.average_part(average, part.begin * width, (part.end - part.begin) * width)
                return values.reshape(part.end - part.begin, *self._shape[1:])
            if self._view is None:
                return self.native.rows(np.arange(part.begin, part.end))
            return self._view[part.begin : part.end].copy()

    def held(self) -> tuple[int, int, int, bool, int, int, tuple[int, ...], int]:
        """The block as PushedBlocks takes it."""
        address = 0 if self._view is None else self._view.ctypes.data
        begin, end = self.block.begin, self.block.end
        return *self.native.held(), self._dtype.itemsize, self.info.sparse, begin, end, self.info.unit_shape, address

    def set_pass(self, number: int) -> None:
        """The pass over the data of the next steps."""
        if number != self._pass:
            with translate_errors(self):
                self.native.set_pass(number)
            self._pass = number

    def apply(self, values: np.ndarray, rows: np.ndarray | None, pass_number: int) -> None:
        """One step of the optimizer. rows: relative to the block's begin."""
        self.set_pass(pass_number)
        try:
            self.native.update(values) if rows is None else self.native.update_rows(rows, values)
        except Error as error:
            raise translated(self, error) from None

    def add(self, delta: np.ndarray, scale: float) -> None:
        """Adds a part of a difference to the values."""
        with translate_errors(self):
            self.native.apply_delta(delta, scale)

    def reading(self, rows: np.ndarray, average: int | None = None) -> Read:
        """Validates row indices, as take() does; the function that it returns copies these rows."""
        return partial(self._rows, self._inside(rows), average)

    def _rows(self, inside: np.ndarray, average: int | None) -> np.ndarray:
        with translate_errors(self):
            return self.native.rows(inside) if average is None else self.native.average(average)[inside]

    def _inside(self, rows: np.ndarray) -> np.ndarray:
        """Row indices relative to the block's begin."""
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
    """The update of one block by a push. rows: of a table, relative to the block's begin. is_copy: the values are in memory
    that the sender of the push does not use."""

    shard: ParameterShard
    values: np.ndarray
    rows: np.ndarray | None
    is_copy: bool = False

    def copied(self) -> ShardUpdate:
        """With a copy of the values."""
        return self._replace(values=self.values.copy(), is_copy=True)


def digest(config: bytes) -> str:
    """A short digest that distinguishes OptimizerConfigs."""
    return hashlib.sha256(config).hexdigest()[:16]


def named(shards: Mapping[BlockKey, ParameterShard], keys: Sequence[BlockKey]) -> list[ParameterShard]:
    """The blocks with these keys, in their order; UnknownParameter; Malformed for a repeated key."""
    found: dict[BlockKey, ParameterShard] = {}
    for key in keys:
        if key not in shards:
            raise UnknownParameter(f"block {key.number} of '{printable(key.parameter)}' is not on this server")
        if key in found:
            raise Malformed(f"block {key.number} of '{printable(key.parameter)}' is repeated")
        found[key] = shards[key]
    return list(found.values())


def same_block(shards: Mapping[BlockKey, ParameterShard], info: ParameterInfo, block: Block) -> ParameterShard:
    """The shard of a block of a program; UnknownParameter or WrongShape if the shards are those of another program."""
    name, known = printable(info.name), shards.get(BlockKey(info.name, block.number))
    advice = "all trainers of a job have one program, and the directory of a job is for this program alone"
    if known is None:
        raise UnknownParameter(f"the job trains another program, without block {block.number} of '{name}': {advice}")
    kinds = [f"{list(one.shape)} {printable(one.dtype)}" + " with a sparse gradient" * one.sparse for one in (known.info, info)]
    if kinds[0] != kinds[1]:
        raise WrongShape(f"the job trains another program, in which '{name}' is {kinds[0]}, not {kinds[1]}: {advice}")
    if known.block != block:
        raise WrongShape(f"the job trains '{name}' with an optimizer for which it is divided into other blocks: {advice}")
    return known


def reads_of(
    shards: Mapping[BlockKey, ParameterShard],
    blocks: Sequence[BlockKey],
    tables: Sequence[BlockKey],
    rows: Sequence[np.ndarray],
    average: int | None = None,
    parts: Sequence[Part] = (),
) -> list[Read]:
    """Functions that copy blocks, or these parts of them, then rows of tables; what they read is validated here."""
    found = named(shards, blocks)
    whole: list[Read] = [partial(shard.values, average) for shard in found]
    if parts:
        whole = [shard.reading_part(part, average) for shard, part in zip(found, parts)]
    return whole + [shard.reading(some, average) for shard, some in zip(named(shards, tables), rows)]


def mean(updates: list[ShardUpdate], count: int) -> ShardUpdate:
    """The sum of the updates of one block, in their order, divided by count: the gradient of one batch of count equal
    ones. Repeated rows are summed in the same order, so that a table gets the bits of a dense gradient. The memory of a copy
    may become that of the sum."""
    if count == 1:
        return updates[0]
    shard, first, rows, _ = updates[0]
    if rows is None:
        memory = next((update.values for update in updates[:2] if update.is_copy), None)
        total = np.add(first, updates[1].values, out=memory) if len(updates) > 1 else first.copy()
        for update in updates[2:]:
            total += update.values
    else:
        rows, places = np.unique(np.concatenate([update.rows for update in updates]), return_inverse=True)
        total = np.zeros((len(rows), *shard.info.unit_shape), first.dtype)
        np.add.at(total, places, np.concatenate([update.values for update in updates]))
    total /= count
    return ShardUpdate(shard, total, rows)


@contextmanager
def translate_errors(shard: ParameterShard) -> Iterator[None]:
    """Maps errors of the optimizer to the cluster's error classes."""
    try:
        yield
    except Error as error:
        raise translated(shard, error) from None


def translated(shard: ParameterShard, error: Error) -> ClusterError:
    if isinstance(error, ClusterError):
        return error
    kind = {NotFiniteError: NotFinite, ShapeError: WrongShape, ProgramError: Malformed}.get(type(error), ClusterError)
    return kind(f"block {shard.block.number} of '{printable(shard.info.name)}': {error}")
