# RemoteParameters: access to the parameters on the servers of a job, as whole arrays by name.
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from ...io.model_in_pieces import InPieces
from ..client import Call, Client, OnWait, required
from ..errors import AlreadyInitialised, NotInitialised, WrongShape
from ..messages import ServerReply
from ..process_log import ProcessLogger
from ..protocol import Compare, FinishInit, Init, Pull
from ..servers.parameter_shard import digest
from ..shards import Block, ParameterInfo, block_values, blocks_in_order, check_dtype, plan_shards
from ..values import BlockDigest, BlockKey, NewBlock
from ..wire import Arrays
from . import pieces
from .pieces import AT_ONCE, Piece
from .table_rows import RowsByBlock, rows_by_block

Rows = tuple[np.ndarray, np.ndarray]
"""Row indices, int64, and their values, [rows, ...]."""
Gradient = np.ndarray | Rows
_KEPT = 8
_MESSAGES_AT_ONCE = 4
"""As many are in memory while parameters are read in pieces."""
_log = ProcessLogger(__name__)


class RemoteParameter(NamedTuple):
    """A parameter on the servers. config: bytes of its OptimizerConfig. average: whether it keeps averages. fixed: it
    is constant, and pulled only once."""

    info: ParameterInfo
    config: bytes
    average: bool = False
    fixed: bool = False


class Pulled(NamedTuple):
    """The arrays of servers' replies, in the memory of their messages, which the next messages use when these are gone.
    blocks: of each parameter, its shape and the values of its blocks, in order. rows: of each table, their indices, and
    their values in parts, in order."""

    blocks: dict[str, tuple[tuple[int, ...], list[np.ndarray]]]
    rows: dict[str, tuple[np.ndarray, list[np.ndarray]]]

    def values(self) -> dict[str, np.ndarray]:
        """Copies of the parameters."""
        return {name: np.concatenate(blocks).reshape(shape) for name, (shape, blocks) in self.blocks.items()}


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

    def received(self, found: Mapping[int, Arrays]) -> Pulled:
        """The parameters, from the arrays of each server's reply; WrongShape or WrongDtype if they are not what was asked
        for."""
        pieces: dict[str, list[tuple[int, int, np.ndarray]]] = {name: [] for name in self.infos}
        for index, arrays in found.items():
            whole, tables = self.whole[index], self.tables[index]
            if len(arrays) != len(whole) + len(tables):
                raise WrongShape(f"server {index} has sent {len(arrays)} arrays, {len(whole) + len(tables)} were asked for")
            for block, array in zip(whole, arrays):
                pieces[block.parameter].append((block.begin, block.end, array))
            for (block, some), array in zip(tables, arrays[len(whole) :]):
                pieces[block.parameter].append((block.begin, len(some), array))
        return Pulled(
            {name: (self.infos[name].shape, blocks_in_order(self.infos[name], pieces[name])) for name in self.names},
            {name: (some, _rows_in_order(self.infos[name], len(some), pieces[name])) for name, some in self.rows.items()},
        )


class Version(NamedTuple):
    """A version of a server's parameters. number: of their updates; token: of their initialisation, None if it is not known."""

    number: int = 0
    token: int | None = None


class RemoteParameters:
    """versions: of each server's parameters in its last reply. lives: the server's life in its last reply; a new one
    means that the server restarted and lost the updates after its newest checkpoint. restarts counts them."""

    def __init__(self, client: Client, parameters: Sequence[RemoteParameter], servers: int):
        self._client, self.by_name = client, {one.info.name: one for one in parameters}
        self.blocks: list[list[Block]] = [[] for _ in range(servers)]
        self._of: dict[str, list[Block]] = {name: [] for name in self.by_name}  # by number
        for block in plan_shards([one.info for one in parameters], servers):
            self.blocks[block.server].append(block)
            self._of[block.parameter].append(block)
        self._edges = {name: np.array([0, *(block.end for block in blocks)]) for name, blocks in self._of.items()}
        self._kept: dict[frozenset[str], list[list[Block]]] = {}
        self.versions, self.lives, self.restarts = [Version()] * servers, [""] * servers, 0

    def initialise(self, servers: Sequence[int], token: int, values: Mapping[str, np.ndarray]) -> None:
        """Sends all their parameters to these servers, as the initialiser."""
        for index in servers:
            blocks = self.blocks[index]
            calls = []
            for begin in range(0, len(blocks), AT_ONCE):
                some = blocks[begin : begin + AT_ONCE]
                arrays = [block_values(self._info(block), block, values[block.parameter]) for block in some]
                new = [NewBlock(self._info(block), block, self.by_name[block.parameter].config) for block in some]
                calls.append(Call(f"server {index}", Init(token, new, [np.ascontiguousarray(one) for one in arrays])))
            calls.append(Call(f"server {index}", FinishInit(token, len(blocks), self.versions[index].number)))
            for call in calls:
                self._initialise_one(call)

    def _initialise_one(self, call: Call) -> None:
        (result,) = self._client.request_all([call])
        if not isinstance(result, AlreadyInitialised):  # by this trainer, whose reply was lost, or it is in use
            required([result])

    def config_mismatches(self) -> list[str]:
        """Parameters that servers train with another OptimizerConfig, from an earlier job in the same directory. UnknownParameter
        or WrongShape if that was a job of another program."""
        calls = []
        for index, blocks in enumerate(self.blocks):
            digests = [BlockDigest(self._info(block), block, digest(self.by_name[block.parameter].config)) for block in blocks]
            calls += [
                Call(f"server {index}", Compare(digests[begin : begin + AT_ONCE])) for begin in range(0, len(digests), AT_ONCE)
            ]
        results = self._client.request_all(calls)  # a server that died meanwhile gets this trainer's
        replies = required([one for one in results if not isinstance(one, NotInitialised)])
        return sorted({name for reply in replies for name in reply.other})

    def pull(self, names: Sequence[str], average: int | None = None, on_wait: OnWait | None = None) -> dict[str, np.ndarray]:
        """Whole parameters, in messages of at most pieces.MESSAGE_BYTES. What one server has of them is of one version if it
        is one message; else updates may come between two. average: the index of an average; None: the values."""
        infos = {name: self.by_name[name].info for name in names}
        values = {name: np.empty((info.units, *info.unit_shape), info.dtype) for name, info in infos.items()}
        blocks = [block for some in self.blocks for block in some if block.parameter in infos]
        found = [piece for block in blocks for piece in pieces.cut(infos[block.parameter], block, average)]
        for group in pieces.in_messages(sorted(found, key=lambda piece: piece.part.begin)):  # from all servers at once
            for piece, array in zip(group, self._asked_for(group, on_wait)):
                begin = piece.block.begin
                values[piece.info.name][begin + piece.part.begin : begin + piece.part.end] = array
        return {name: value.reshape(infos[name].shape) for name, value in values.items()}

    def in_pieces(self, wanted: Sequence[tuple[str, int | None]], on_wait: OnWait | None = None) -> Iterator[InPieces]:
        """The parameters with these names, or an average of each, in messages of at most pieces.MESSAGE_BYTES: what is not read
        yet is not asked for yet. Each must be read before the next one is taken."""
        blocks: dict[str, list[Block]] = {name: [] for name, _ in wanted}
        for block in chain.from_iterable(self.blocks):
            if block.parameter in blocks:
                blocks[block.parameter].append(block)
        found = [
            [piece for block in sorted(blocks[name]) for piece in pieces.cut(self._info(block), block, average)]
            for name, average in wanted
        ]
        groups = pieces.in_messages(chain.from_iterable(found), _MESSAGES_AT_ONCE * pieces.MESSAGE_BYTES)
        arrays = chain.from_iterable(self._asked_for(group, on_wait) for group in groups)
        for (name, _), some in zip(wanted, found):
            info = self.by_name[name].info
            yield InPieces(np.dtype(info.dtype), info.shape, islice(arrays, len(some)))

    def _asked_for(self, group: Sequence[Piece], on_wait: OnWait | None) -> list[np.ndarray]:
        """The arrays of a group of in_messages()."""
        of: dict[int, list[Piece]] = {}
        for piece in group:
            of.setdefault(piece.block.server, []).append(piece)
        requests = {
            server: Pull(_keys([one.block for one in some]), average=group[0].average, parts=[one.part for one in some])
            for server, some in of.items()
        }
        found = {server: iter(arrays) for server, arrays in self._asked(requests, on_wait).items()}
        return [piece.checked(next(found[piece.block.server])) for piece in group]

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
        tables: list[list[tuple[Block, np.ndarray]]] = [[] for _ in self.blocks]
        for name, some in rows.items():
            at = np.searchsorted(some, self._edges[name]).tolist()
            for block, begin, end in zip(self._of[name], at, at[1:]):
                if begin < end:
                    tables[block.server].append((block, some[begin:end]))
        infos = {name: self.by_name[name].info for name in (*names, *rows)}
        return Selection(infos, list(names), rows, self._blocks_of(names), tables)

    def _blocks_of(self, names: Iterable[str]) -> list[list[Block]]:
        """The blocks of these parameters, by server; the names are the same in each step."""
        wanted = frozenset(names)
        if wanted not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[wanted] = [[block for block in blocks if block.parameter in wanted] for blocks in self.blocks]
        return self._kept[wanted]

    @property
    def training(self) -> list[int]:
        """The servers that have parameters which change."""
        return [index for index, blocks in enumerate(self.blocks) if any(not self.by_name[one.parameter].fixed for one in blocks)]

    def shares(self, gradients: Mapping[str, Gradient]) -> list[tuple[list[BlockKey], Arrays]]:
        """The blocks of a push for each server, and their arrays."""
        found = [(_keys(blocks), list[np.ndarray]()) for blocks in self._blocks_of(gradients)]
        rows: RowsByBlock | None = None
        for name in sorted(gradients, key=str.encode):  # the order of blocks
            info, blocks, gradient = self.by_name[name].info, self._of[name], gradients[name]
            if isinstance(gradient, tuple):
                rows = rows_by_block(gradient[0], self._edges[name], rows)
                parts = rows.parts(gradient[1])
            else:
                parts = ([np.ascontiguousarray(block_values(info, block, gradient))] for block in blocks)
            for block, arrays in zip(blocks, parts):
                found[block.server][1].extend(arrays)
        return found

    def note_reply(self, index: int, reply: ServerReply) -> None:
        """Records the life and the version of a server that has replied, and detects restarts. A server that has lost its
        parameters may get this trainer's, of the version before."""
        if self.lives[index] and reply.life != self.lives[index]:
            self.restarts += 1
            _log.warning("server %d restarted; it is at version %d now", index, reply.version)
        self.lives[index] = reply.life
        if reply.token is not None:
            self.versions[index] = Version(reply.version, reply.token)

    def _info(self, block: Block) -> ParameterInfo:
        return self.by_name[block.parameter].info


def _keys(blocks: Sequence[Block]) -> list[BlockKey]:
    return [BlockKey(block.parameter, block.number) for block in blocks]


def _rows_in_order(info: ParameterInfo, count: int, pieces: list[tuple[int, int, np.ndarray]]) -> list[np.ndarray]:
    """The values of so many rows of a table, from the begin of each block, the number of its rows, and their values."""
    pieces.sort(key=lambda piece: piece[0])
    for begin, rows, array in pieces:
        if array.shape != (rows, *info.unit_shape):
            raise WrongShape(f"{rows} rows of '{info.name}' from {begin} on come as an array {list(array.shape)}")
        check_dtype(info, array)
        count -= rows
    if count:
        raise WrongShape(f"{count} rows of '{info.name}' are missing")
    return [array for _, _, array in pieces]


def _renumbered(on_wait: OnWait, servers: Sequence[int]) -> OnWait:
    """on_wait(server, reply), for calls to these servers."""
    return lambda index, reply: on_wait(servers[index], reply)
