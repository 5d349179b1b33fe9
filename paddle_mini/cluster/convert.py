# Assembles whole parameters from the checkpoints of all servers of a job.
from __future__ import annotations

import warnings

import numpy as np

from .._core import printable
from ..errors import shown
from ..io.regular_files import path_of
from .errors import StorageError
from .servers.checkpoint_file import blocks, found, verified
from .shards import ParameterInfo, join_blocks
from .wire import Header

_Piece = tuple[ParameterInfo, int, int, np.ndarray]


def read_parameters(directory: str, average: int | None = None) -> dict[str, np.ndarray]:
    """The parameters, or one of their averages, from the newest intact checkpoint of each server.

    StorageError when a server's checkpoint is missing, or jobs or numbers of servers differ; WrongShape when blocks do
    not make a whole parameter; ClusterError when a parameter does not have this average. Warns when checkpoints differ
    in time or version: then parameters belong to different steps.
    """
    pieces: dict[str, list[tuple[int, int, np.ndarray]]] = {}
    infos: dict[str, ParameterInfo] = {}
    all_facts: dict[int, Header] = {}
    for index in sorted({checkpoint.server for checkpoint in found(path_of(directory))}):
        facts, shards = _newest_whole(directory, index, average)
        all_facts[index] = facts
        for info, begin, end, values in shards:
            if infos.setdefault(info.name, info) != info:
                raise StorageError(f"servers in '{directory}' do not agree about '{info.name}'")
            pieces.setdefault(info.name, []).append((begin, end, values))
    _require_all(directory, all_facts)
    return {name: join_blocks(info, pieces[name]) for name, info in sorted(infos.items())}


def _newest_whole(directory: str, index: int, average: int | None) -> tuple[Header, list[_Piece]]:
    damaged: list[str] = []
    for checkpoint in found(directory, index):
        try:
            with verified(checkpoint.path) as (file, facts):
                shards = [(one.info, one.block.begin, one.block.end, one.values(average)) for one in blocks(file, facts)]
        except StorageError as error:
            damaged.append(str(error))
            continue
        for problem in damaged:
            warnings.warn(f"{printable(problem, 2000)}; '{printable(checkpoint.path)}' is taken", stacklevel=4)
        return facts, shards
    raise StorageError(f"no checkpoint of server {index} in '{directory}' is intact: {'; '.join(damaged)}")


def _require_all(directory: str, all_facts: dict[int, Header]) -> None:
    def different(word: str) -> list[str]:
        return sorted({shown(facts.get(word)) for facts in all_facts.values()})

    if not all_facts:
        raise StorageError(f"no checkpoints of servers in '{directory}'")
    for word in ("job", "servers"):
        if len(different(word)) > 1:
            raise StorageError(f"the checkpoints in '{directory}' differ in '{word}': {', '.join(different(word))}")
    servers = next(iter(all_facts.values()))["servers"]
    missing = [index for index in range(servers) if index not in all_facts]
    if missing:
        raise StorageError(f"the checkpoint of server {missing[0]} of {servers} is not in '{directory}'")
    for word in ("timestamp", "version"):
        if len(different(word)) > 1:
            warnings.warn(
                f"the checkpoints in '{printable(directory)}' are of different {word}s: {', '.join(different(word))}",
                stacklevel=3,
            )
