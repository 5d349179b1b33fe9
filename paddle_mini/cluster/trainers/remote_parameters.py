# RemoteParameters: the parameters of a job at its servers, as whole arrays by name.
from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..client import Ask, Client, OnWait, Result, required
from ..errors import AlreadyInitialised, NotInitialised
from ..part_log import PartLogger
from ..servers.held import about, digest
from ..shards import Block, ParameterInfo, join, part, plan_shards
from ..wire import Arrays, Header

Rows = tuple[np.ndarray, np.ndarray]
"""Numbers of rows, int64, and their values, [rows, ...]."""
Gradient = np.ndarray | Rows
Pulled = tuple[dict[str, np.ndarray], dict[str, Rows]]
_AT_ONCE = 200
"""Blocks in one message of an initialiser, whose headers are limited."""
_log = PartLogger(__name__)


class Held(NamedTuple):
    """A parameter that servers have. config: bytes of its OptimizerConfig. average: whether that keeps averages. fixed:
    nothing changes it, so that it need be pulled only once."""

    info: ParameterInfo
    config: bytes
    average: bool = False
    fixed: bool = False


class RemoteParameters:
    """versions: of each server, as it was pulled. lives: as its last reply said; one that ends takes with it what came
    after the newest checkpoint, and restarts counts that."""

    def __init__(self, client: Client, held: Sequence[Held], servers: int):
        self._client, self.held = client, {one.info.name: one for one in held}
        self.blocks: list[list[Block]] = [[] for _ in range(servers)]
        for block in plan_shards([one.info for one in held], servers):
            self.blocks[block.server].append(block)
        self.versions, self.lives, self.restarts = [0] * servers, [""] * servers, 0

    def give(self, servers: Sequence[int], token: int, values: Mapping[str, np.ndarray]) -> None:
        """All parameters of these servers, by the initialiser."""
        for index in servers:
            blocks = self.blocks[index]
            asks = []
            for begin in range(0, len(blocks), _AT_ONCE):
                some = blocks[begin : begin + _AT_ONCE]
                arrays = [part(self._info(block), block, values[block.parameter]) for block in some]
                fields = {"token": token, "blocks": [self._about(block) for block in some]}
                asks.append(Ask(f"server {index}", "init", fields, [np.ascontiguousarray(array) for array in arrays]))
            asks.append(Ask(f"server {index}", "finish_init", {"token": token, "count": len(blocks)}))
            for ask in asks:
                self._give_one(ask)

    def _give_one(self, ask: Ask) -> None:
        (result,) = self._client.ask_all([ask])
        if not isinstance(result, AlreadyInitialised):  # by this trainer, which did not hear of it; or it is in use
            required([result])

    def trained_otherwise(self) -> list[str]:
        """Parameters that servers have with another OptimizerConfig, as a job in the same directory began with it."""
        asks = []
        for index, blocks in enumerate(self.blocks):
            digests = [[block.parameter, block.number, digest(self.held[block.parameter].config)] for block in blocks]
            asks += [
                Ask(f"server {index}", "compare", {"blocks": digests[begin : begin + _AT_ONCE]})
                for begin in range(0, len(digests), _AT_ONCE)
            ]
        results = self._client.ask_all(asks)  # a server that died meanwhile will be given this trainer's
        replies = required([one for one in results if not isinstance(one, NotInitialised)])
        return sorted({name for header, _ in replies for name in header["other"]})

    def pull(
        self,
        names: Sequence[str],
        rows: Mapping[str, np.ndarray],
        min_version: int = 0,
        average: int | None = None,
        on_wait: OnWait | None = None,
    ) -> Pulled:
        """Whole parameters, and some rows of tables: their numbers, int64, rising. Waits for min_version at all
        servers. average: one of the averages, of parameters that have one; None: the values."""
        wanted = [[block for block in blocks if block.parameter in names] for blocks in self.blocks]
        tables = [[block for block in blocks if block.parameter in rows] for blocks in self.blocks]
        more = {} if average is None else {"average": average}
        asks = []
        for index, (whole, table) in enumerate(zip(wanted, tables)):
            fields = {"blocks": _pairs(whole), "rows": _pairs(table), "min_version": min_version, **more}
            inside = [_inside(rows[block.parameter], block) for block in table]
            asks.append(Ask(f"server {index}", "pull", fields, inside))
        pieces: dict[str, list[tuple[int, int, np.ndarray]]] = {name: [] for name in (*names, *rows)}
        for index, (header, arrays) in enumerate(required(self._client.ask_all(asks, on_wait))):
            self.heard(index, header)
            for block, array in zip([*wanted[index], *tables[index]], arrays):
                pieces[block.parameter].append((block.begin, block.end, array))
        return (
            {name: join(self.held[name].info, pieces[name]) for name in names},
            {name: (rows[name], _in_order(pieces[name])) for name in rows},
        )

    def push(
        self, gradients: Mapping[str, Gradient], name: str, sender: Header, servers: Sequence[int]
    ) -> list[tuple[int, Result]]:
        """Sends each of these servers its part, and returns what it said, with its number. name: "push" or
        "push_delta"."""
        asks = {}
        for index in servers:
            blocks = [block for block in self.blocks[index] if block.parameter in gradients]
            arrays = [array for block in blocks for array in self._parts(block, gradients[block.parameter])]
            fields = {**sender, "version": self.versions[index], "blocks": _pairs(blocks)}
            asks[index] = Ask(f"server {index}", name, fields, arrays)
        results = list(zip(asks, self._client.ask_all(list(asks.values()))))
        for index, result in results:
            if isinstance(result, tuple):
                self.heard(index, result[0], pulled=False)
        return results

    def heard(self, index: int, header: Header, pulled: bool = True) -> None:
        """What each reply of a server says. pulled: the values that are here are of this version now."""
        if self.lives[index] and header["life"] != self.lives[index]:
            self.restarts += 1
            _log.warning("server %d began again from its checkpoint, at version %d", index, header["version"])
        self.lives[index] = header["life"]
        if pulled:
            self.versions[index] = header["version"]

    def _info(self, block: Block) -> ParameterInfo:
        return self.held[block.parameter].info

    def _about(self, block: Block) -> dict[str, Any]:
        one = self.held[block.parameter]
        return {**about(one.info, block), "config": base64.b64encode(one.config).decode("ascii")}

    def _parts(self, block: Block, gradient: Gradient) -> Arrays:
        info = self._info(block)
        if not info.sparse:
            return [np.ascontiguousarray(part(info, block, gradient))]  # type: ignore[arg-type]
        rows, values = gradient
        if len(self.blocks) == 1:
            return [rows, values]
        mine = np.flatnonzero((rows >= block.begin) & (rows < block.end))
        return [rows.take(mine), values.take(mine, axis=0)]


def _pairs(blocks: Sequence[Block]) -> list[list[Any]]:
    return [[block.parameter, block.number] for block in blocks]


def _inside(rows: np.ndarray, block: Block) -> np.ndarray:
    first, last = np.searchsorted(rows, (block.begin, block.end))
    return np.ascontiguousarray(rows[first:last])


def _in_order(pieces: list[tuple[int, int, np.ndarray]]) -> np.ndarray:
    return np.concatenate([values for _, _, values in sorted(pieces, key=lambda piece: piece[:2])])
