# Pieces: parameters that are read whole come in messages of a limited size, each with parts of several blocks.
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..._core import printable
from ..errors import WrongShape
from ..shards import Block, ParameterInfo
from ..values import Part

MESSAGE_BYTES = 64 << 20
"""Bytes of arrays in one reply that has whole parameters."""
AT_ONCE = 200
"""Blocks in one message: headers have a size limit."""


class Piece(NamedTuple):
    """A part of a block, or of an average of it."""

    info: ParameterInfo
    block: Block
    part: Part
    average: int | None

    @property
    def bytes(self) -> int:
        return (self.part.end - self.part.begin) * self.info.unit_bytes

    def checked(self, array: np.ndarray) -> np.ndarray:
        """The array that its server gave for it; WrongShape."""
        shape = (self.part.end - self.part.begin, *self.info.unit_shape)
        if array.shape != shape or array.dtype != self.info.dtype:
            raise WrongShape(
                f"server {self.block.server} gave {list(array.shape)} {array.dtype} of '{printable(self.info.name)}', not "
                f"{list(shape)} {self.info.dtype}"
            )
        return array


def cut(info: ParameterInfo, block: Block, average: int | None) -> list[Piece]:
    """A block in pieces of at most MESSAGE_BYTES, or of one row, if that has more."""
    units, step = block.end - block.begin, max(1, MESSAGE_BYTES // max(1, info.unit_bytes))
    return [Piece(info, block, Part(begin, min(units, begin + step)), average) for begin in range(0, units, step)]


def in_messages(pieces: Iterable[Piece], most: int | None = None) -> Iterator[list[Piece]]:
    """The pieces, in their order, in groups that are asked for at once: one message to each server, with as much as fits, and
    at most so many bytes in all."""
    group: list[Piece] = []
    sizes: dict[int, int] = {}
    counts: dict[int, int] = {}
    for piece in pieces:
        server, size = piece.block.server, sizes.get(piece.block.server, 0) + piece.bytes
        is_full = size > MESSAGE_BYTES or counts.get(server) == AT_ONCE
        is_full = is_full or (most is not None and sum(sizes.values()) + piece.bytes > most)
        # A message names a block once, and has averages or values.
        if group and (is_full or piece.average != group[0].average or piece.block == group[-1].block):
            yield group
            group, sizes, counts, size = [], {}, {}, piece.bytes
        group.append(piece)
        sizes[server], counts[server] = size, counts.get(server, 0) + 1
    if group:
        yield group
