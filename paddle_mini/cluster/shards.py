# Sharding: assigns blocks of parameters to servers, with the same result in every process and language.
"""
The assignment depends only on integers and the names' UTF-8 bytes. A dense parameter of at least twice BLOCK elements
is split into as many equal blocks as there are servers, or fewer if they would have less than BLOCK elements; a table
is split likewise, between rows; block i of n begins at element (or row) floor(i size / n). A parameter whose optimizer
needs the whole gradient stays in one block. Then the blocks, sorted by descending bytes, then name and number, each go
to the server with the fewest bytes so far, and of several to the first.

So the loads of two servers differ at most by the largest block of a parameter that was not split for all servers, and
hardly if all were. With three such blocks per server on average, the ratio is at most 1.5.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from .._core import printable
from ..errors import shown
from .errors import Malformed, WrongDtype, WrongShape

BLOCK = 8192
"""Minimal elements of a block of a split parameter: smaller ones need more messages and hardly improve the balance."""


class ParameterInfo(NamedTuple):
    """Description of a parameter for sharding. dtype: "float32" or "float64". sparse: a table with sparse gradients.
    whole: its optimizer needs the norm of the whole gradient.

    name, shape: those of the parameter.
    Example:
        >>> table = pm.cluster.ParameterInfo("words", (100000, 64), "float32", sparse=True)
        >>> table.units, table.unit_bytes
        (100000, 256)
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    sparse: bool = False
    whole: bool = False

    @property
    def units(self) -> int:
        """The number of units that blocks consist of: rows of a table, elements of other parameters."""
        return self.shape[0] if self.sparse else prod(self.shape)

    @property
    def unit_shape(self) -> tuple[int, ...]:
        """The shape of a unit: of a row of a table; () for other parameters."""
        return self.shape[1:] if self.sparse else ()

    @property
    def unit_bytes(self) -> int:
        """The bytes of a unit."""
        return prod(self.unit_shape) * np.dtype(self.dtype).itemsize


class Block(NamedTuple):
    """Rows of a table, or elements of a flattened dense parameter, in [begin, end), and their server.

    number: its index among the blocks of its parameter, from 0.
    Example:
        >>> info = pm.cluster.ParameterInfo("w", (256, 128), "float32")
        >>> [(block.begin, block.end) for block in pm.cluster.plan_shards([info], servers=2)]
        [(0, 16384), (16384, 32768)]
    """

    parameter: str
    number: int
    begin: int
    end: int
    server: int


def check_info(info: ParameterInfo) -> None:
    """Malformed for an invalid description."""
    if not isinstance(info, ParameterInfo):
        raise Malformed(f"{shown(info)} is not a ParameterInfo")
    if not info.name or len(info.name.encode("utf-8", "replace")) > 1024 or not info.name.isprintable():
        raise Malformed(f"{shown(info.name)} is not a valid parameter name: 1 to 1024 bytes without control characters")
    if info.dtype not in ("float32", "float64"):
        raise Malformed(f"'{info.name}' is {shown(info.dtype)}, it must be float32 or float64")
    dims_fit = len(info.shape) <= 9 and all(isinstance(dim, int) and 0 <= dim <= 1 << 40 for dim in info.shape)
    if not dims_fit or prod(info.shape) > 1 << 48:
        raise Malformed(f"'{info.name}' has shape {shown(list(info.shape))}: at most 9 dimensions, and 2^48 elements")
    if info.sparse and not info.shape:
        raise Malformed(f"'{info.name}' is a table of shape []: it has no rows")


def check_block(info: ParameterInfo, block: Block) -> None:
    """Malformed for a block that its parameter does not have, and for an invalid description."""
    check_info(info)
    if block.parameter != info.name or not block.begin <= block.end <= info.units:
        raise Malformed(
            f"block {block.number} of '{printable(block.parameter)}' is {block.begin} to {block.end} of "
            f"{info.units} of '{printable(info.name)}'"
        )


def plan_shards(infos: Iterable[ParameterInfo], servers: int) -> list[Block]:
    """The blocks of all parameters, sorted by name and number. Malformed for fewer than one server, for a repeated
    name, and for an invalid description.

    infos: descriptions of the parameters, in any order. servers: their number.
    Example:
        >>> infos = [pm.cluster.ParameterInfo(name, (100, 100), "float32") for name in ("a", "b")]
        >>> [(block.parameter, block.server) for block in pm.cluster.plan_shards(infos, servers=2)]
        [('a', 0), ('b', 1)]
    """
    if isinstance(servers, bool) or not isinstance(servers, int) or servers < 1:
        raise Malformed(f"servers is {shown(servers)}, it must be an integer, at least 1")
    sizes: dict[str, int] = {}
    cut: list[tuple[int, bytes, Block]] = []
    for info in infos:
        check_info(info)
        if info.name in sizes:
            raise Malformed(f"parameter '{info.name}' is repeated")
        sizes[info.name] = info.unit_bytes
        count = _block_count(info, servers)
        edges = [number * info.units // count for number in range(count + 1)]
        cut += [
            ((end - begin) * info.unit_bytes, info.name.encode(), Block(info.name, number, begin, end, -1))
            for number, (begin, end) in enumerate(itertools.pairwise(edges))
        ]
    loads = [(0, server) for server in range(servers)]
    placed = []
    for size, _, block in sorted(cut, key=lambda piece: (-piece[0], piece[1], piece[2].number)):
        load, server = heapq.heappop(loads)
        heapq.heappush(loads, (load + size, server))
        placed.append(block._replace(server=server))
    return sorted(placed, key=lambda block: (block.parameter.encode(), block.number))


def _block_count(info: ParameterInfo, servers: int) -> int:
    if info.whole:
        return 1
    max_blocks = prod(info.shape) // BLOCK
    return max(1, min(servers, max_blocks, info.units))


def block_shape(info: ParameterInfo, block: Block) -> tuple[int, ...]:
    """The shape of a block's values: [elements], or [rows, ...] of a table."""
    return (block.end - block.begin, *info.unit_shape)


def block_values(info: ParameterInfo, block: Block, values: np.ndarray) -> np.ndarray:
    """A block's values in an array of the parameter's shape; a view if possible."""
    if values.shape != tuple(info.shape):
        raise WrongShape(f"'{info.name}' is {list(values.shape)}, it must be {list(info.shape)}")
    return values.reshape(info.units, *info.unit_shape)[block.begin : block.end]


def join_blocks(info: ParameterInfo, parts: Sequence[tuple[int, int, np.ndarray]]) -> np.ndarray:
    """The parameter from (begin, end, values) of all its blocks; errors as of blocks_in_order()."""
    none = np.empty((0, *info.unit_shape), info.dtype)
    return np.concatenate([none, *blocks_in_order(info, parts)]).reshape(info.shape)


def blocks_in_order(info: ParameterInfo, parts: Sequence[tuple[int, int, np.ndarray]]) -> list[np.ndarray]:
    """The values of all blocks of a parameter, from (begin, end, values) of each; WrongShape if elements are missing or
    repeated, WrongDtype."""
    found, offset = [], 0
    for begin, end, piece in sorted(parts, key=lambda found: found[:2]):
        if begin != offset or piece.shape != (end - begin, *info.unit_shape):
            raise WrongShape(f"'{info.name}': after {offset} its blocks continue at {begin} with an array {list(piece.shape)}")
        check_dtype(info, piece)
        found.append(piece)
        offset = end
    if offset != info.units:
        raise WrongShape(f"'{info.name}': its blocks end at {offset} of {info.units}")
    return found


def check_dtype(info: ParameterInfo, values: np.ndarray) -> None:
    """WrongDtype for values of another element type than the parameter's."""
    if values.dtype != info.dtype:
        raise WrongDtype(f"values of '{info.name}' are {values.dtype}, they must be {info.dtype}")
