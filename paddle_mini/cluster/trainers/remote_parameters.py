# RemoteParameters: access to the parameters on the servers of a job, as whole arrays by name.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..._core import printable
from ..client import Call, Client, OnWait, required
from ..errors import AlreadyInitialised, NotInitialised, WrongShape
from ..messages import ServerReply
from ..process_log import ProcessLogger
from ..protocol import Compare, FinishInit, Init, Pull
from ..servers.parameter_shard import digest
from ..shards import Block, ParameterInfo, block_values, join_blocks, plan_shards
from ..values import BlockDigest, BlockKey, NewBlock, Part
from ..wire import Arrays

Rows = tuple[np.ndarray, np.ndarray]
"""Row indices, int64, and their values, [rows, ...]."""
Gradient = np.ndarray | Rows
Pulled = tuple[dict[str, np.ndarray], dict[str, Rows]]
MESSAGE_BYTES = 64 << 20
"""Bytes of arrays in one reply that has whole parameters."""
_AT_ONCE = 200
"""Blocks in one message: headers have a size limit."""
_log = ProcessLogger(__name__)


class RemoteParameter(NamedTuple):
    """A parameter on the servers. config: bytes of its OptimizerConfig. average: whether it keeps averages. fixed: it
    is constant, and pulled only once."""

    info: ParameterInfo
    config: bytes
    average: bool = False
    fixed: bool = False


class Selection(NamedTuple):
    """Parameters, and rows of tables, to read. whole: the blocks to read of each server; tables: those of tables of which
    it has rows, with the indices of these rows."""

    infos: Mapping[str, ParameterInfo]
    names: list[str]
    rows: Mapping[str, np.ndarray]
    whole: list[list[Block]]
    tables: list[list[tuple[Block, np.ndarray]]]

    def touches(self, index: int) -> bool:
        """Whether this server has some of it."""
        return bool(self.whole[index] or self.tables[index])

    def pull(self, index: int) -> Pull:
        """The request to a server for its part."""
        return Pull(*self.keys(index), arrays=self.indices(index))

    def keys(self, index: int) -> tuple[list[BlockKey], list[BlockKey]]:
        """The keys of a server's blocks, and of its tables."""
        return _keys(self.whole[index]), _keys([block for block, _ in self.tables[index]])

    def indices(self, index: int) -> Arrays:
        """The rows of each of a server's tables."""
        return [inside for _, inside in self.tables[index]]

    def joined(self, found: Mapping[int, Arrays]) -> Pulled:
        """The parameters, from the arrays of each server's reply."""
        pieces: dict[str, list[tuple[int, int, np.ndarray]]] = {name: [] for name in self.infos}
        for index, arrays in found.items():
            blocks = [*self.whole[index], *(block for block, _ in self.tables[index])]
            for block, array in zip(blocks, arrays, strict=True):
                pieces[block.parameter].append((block.begin, block.end, array))
        return (
            {name: join_blocks(self.infos[name], pieces[name]) for name in self.names},
            {name: (some, _in_order(self.infos[name], pieces[name])) for name, some in self.rows.items()},
        )


class RemoteParameters:
    """versions: of each server in its last reply. lives: the server's life in its last reply; a new one means that the
    server restarted and lost the updates after its newest checkpoint. restarts counts them."""

    def __init__(self, client: Client, parameters: Sequence[RemoteParameter], servers: int):
        self._client, self.by_name = client, {one.info.name: one for one in parameters}
        self.blocks: list[list[Block]] = [[] for _ in range(servers)]
        for block in plan_shards([one.info for one in parameters], servers):
            self.blocks[block.server].append(block)
        self.versions, self.lives, self.restarts = [0] * servers, [""] * servers, 0

    def initialise(self, servers: Sequence[int], token: int, values: Mapping[str, np.ndarray]) -> None:
        """Sends all their parameters to these servers, as the initialiser."""
        for index in servers:
            blocks = self.blocks[index]
            calls = []
            for begin in range(0, len(blocks), _AT_ONCE):
                some = blocks[begin : begin + _AT_ONCE]
                arrays = [block_values(self._info(block), block, values[block.parameter]) for block in some]
                new = [NewBlock(self._info(block), block, self.by_name[block.parameter].config) for block in some]
                calls.append(Call(f"server {index}", Init(token, new, [np.ascontiguousarray(one) for one in arrays])))
            calls.append(Call(f"server {index}", FinishInit(token, len(blocks))))
            for call in calls:
                self._initialise_one(call)

    def _initialise_one(self, call: Call) -> None:
        (result,) = self._client.request_all([call])
        if not isinstance(result, AlreadyInitialised):  # by this trainer, whose reply was lost, or it is in use
            required([result])

    def config_mismatches(self) -> list[str]:
        """Parameters that servers train with another OptimizerConfig, from an earlier job in the same directory."""
        calls = []
        for index, blocks in enumerate(self.blocks):
            digests = [
                BlockDigest(block.parameter, block.number, digest(self.by_name[block.parameter].config)) for block in blocks
            ]
            calls += [
                Call(f"server {index}", Compare(digests[begin : begin + _AT_ONCE])) for begin in range(0, len(digests), _AT_ONCE)
            ]
        results = self._client.request_all(calls)  # a server that died meanwhile gets this trainer's
        replies = required([one for one in results if not isinstance(one, NotInitialised)])
        return sorted({name for reply in replies for name in reply.other})

    def pull(self, names: Sequence[str], average: int | None = None, on_wait: OnWait | None = None) -> dict[str, np.ndarray]:
        """Whole parameters, in messages of at most MESSAGE_BYTES. What one server has of them is of one version if it is one
        message; else updates may come between two. average: the index of an average; None: the values."""
        infos = {name: self.by_name[name].info for name in names}
        values = {name: np.empty((info.units, *info.unit_shape), info.dtype) for name, info in infos.items()}
        messages = [_messages([block for block in blocks if block.parameter in infos], infos) for blocks in self.blocks]
        for number in range(max(map(len, messages), default=0)):
            asked = {index: some[number] for index, some in enumerate(messages) if number < len(some)}
            requests = {
                index: Pull(_keys([block for block, _ in pieces]), average=average, parts=[part for _, part in pieces])
                for index, pieces in asked.items()
            }
            for index, arrays in self._asked(requests, on_wait).items():
                for (block, part), array in zip(asked[index], arrays, strict=True):
                    _fill(values[block.parameter], block, part, array)
        return {name: value.reshape(infos[name].shape) for name, value in values.items()}

    def read(self, selected: Selection, servers: Sequence[int], on_wait: OnWait | None = None) -> dict[int, Arrays]:
        """The arrays of these servers' replies. on_wait(server, reply) is called for each "wait"."""
        return self._asked({index: selected.pull(index) for index in servers}, on_wait)

    def _asked(self, requests: Mapping[int, Pull], on_wait: OnWait | None) -> dict[int, Arrays]:
        servers = list(requests)
        calls = [Call(f"server {index}", request) for index, request in requests.items()]
        replies = required(self._client.request_all(calls, on_wait and _renumbered(on_wait, servers)))
        for index, pulled in zip(servers, replies):
            self.note_reply(index, pulled)
        return {index: pulled.arrays for index, pulled in zip(servers, replies)}

    def select(self, names: Sequence[str], rows: Mapping[str, np.ndarray]) -> Selection:
        """The parameters and rows to read, by server."""
        wanted = set(names)
        whole = [[block for block in blocks if block.parameter in wanted] for blocks in self.blocks]
        tables = [
            [
                (block, inside)
                for block in blocks
                if block.parameter in rows and len(inside := _inside(rows[block.parameter], block))
            ]
            for blocks in self.blocks
        ]
        return Selection({name: self.by_name[name].info for name in (*names, *rows)}, list(names), rows, whole, tables)

    @property
    def training(self) -> list[int]:
        """The servers that have parameters which change."""
        return [index for index, blocks in enumerate(self.blocks) if any(not self.by_name[one.parameter].fixed for one in blocks)]

    def share(self, index: int, gradients: Mapping[str, Gradient]) -> tuple[list[BlockKey], Arrays]:
        """The blocks of a push for one server, and their arrays."""
        blocks = [block for block in self.blocks[index] if block.parameter in gradients]
        return _keys(blocks), [array for block in blocks for array in self._parts(block, gradients[block.parameter])]

    def note_reply(self, index: int, reply: ServerReply) -> None:
        """Records the life and the version of a server that has replied, and detects restarts."""
        if self.lives[index] and reply.life != self.lives[index]:
            self.restarts += 1
            _log.warning("server %d restarted; it is at version %d now", index, reply.version)
        self.lives[index], self.versions[index] = reply.life, reply.version

    def _info(self, block: Block) -> ParameterInfo:
        return self.by_name[block.parameter].info

    def _parts(self, block: Block, gradient: Gradient) -> Arrays:
        info = self._info(block)
        if not info.sparse:
            return [np.ascontiguousarray(block_values(info, block, gradient))]  # type: ignore[arg-type]
        rows, values = gradient
        if len(self.blocks) == 1:
            return [rows, values]
        mine = np.flatnonzero((rows >= block.begin) & (rows < block.end))
        return [rows.take(mine), values.take(mine, axis=0)]


def _messages(blocks: Sequence[Block], infos: Mapping[str, ParameterInfo]) -> list[list[tuple[Block, Part]]]:
    """Parts of all blocks of a server, by message: as many as fit into MESSAGE_BYTES, of a row above that one row."""
    messages: list[list[tuple[Block, Part]]] = []
    left = 0
    for block in blocks:
        unit, units, begin = infos[block.parameter].unit_bytes, block.end - block.begin, 0
        while begin < units:
            if not messages or left < unit or len(messages[-1]) == _AT_ONCE or messages[-1][-1][0] == block:
                messages.append([])
                left = max(MESSAGE_BYTES, unit)
            end = min(units, begin + left // unit) if unit else units
            messages[-1].append((block, Part(begin, end)))
            left -= (end - begin) * unit
            begin = end
    return messages


def _fill(values: np.ndarray, block: Block, part: Part, array: np.ndarray) -> None:
    to = values[block.begin + part.begin : block.begin + part.end]
    if array.shape != to.shape or array.dtype != to.dtype:
        raise WrongShape(
            f"server {block.server} gave {list(array.shape)} {array.dtype} of '{printable(block.parameter)}', not "
            f"{list(to.shape)} {to.dtype}"
        )
    to[...] = array


def _keys(blocks: Sequence[Block]) -> list[BlockKey]:
    return [BlockKey(block.parameter, block.number) for block in blocks]


def _inside(rows: np.ndarray, block: Block) -> np.ndarray:
    first, last = np.searchsorted(rows, (block.begin, block.end))
    return np.ascontiguousarray(rows[first:last])


def _in_order(info: ParameterInfo, pieces: list[tuple[int, int, np.ndarray]]) -> np.ndarray:
    none = np.zeros((0, *info.unit_shape), info.dtype)
    return np.concatenate([none, *(values for _, _, values in sorted(pieces, key=lambda piece: piece[:2]))])


def _renumbered(on_wait: OnWait, servers: Sequence[int]) -> OnWait:
    """on_wait(server, reply), for calls to these servers."""
    return lambda index, reply: on_wait(servers[index], reply)
