# Assembles whole parameters, and models, from the directory of a job: its program and the checkpoints of all servers.
from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence

import numpy as np

from .. import _core
from .._core import Error, Scope, printable
from ..callsite import warn
from ..errors import shown
from ..io.model import read_program, save_inference_model
from ..io.parameters import Path
from ..io.regular_files import path_of
from ..program import Program
from .errors import ClusterError, StorageError
from .object_store import ObjectStore, is_url, local_files
from .process_log import ProcessLogger
from .servers.checkpoint_file import blocks, found, verified
from .servers.parameter_shard import ParameterShard
from .shards import ParameterInfo, join_blocks
from .trainer_checkpoints import FOLDER
from .wire import Header

PROGRAM = "program"
"""The program that trains, in the directory of the job, without the end .pdmodel."""
_log = ProcessLogger(__name__)
_Piece = tuple[ParameterInfo, int, int, np.ndarray, bool]
"""A block of a parameter: begin, end, values, and whether it is averaged."""


def read_parameters(directory: str, average: int | None = None) -> dict[str, np.ndarray]:
    """The parameters, from the newest intact checkpoint of each server; average: with this average in place of each averaged
    parameter.

    StorageError when a server's checkpoint is missing, or jobs or numbers of servers differ; WrongShape when blocks do
    not make a whole parameter; ClusterError when an averaged parameter does not have this average, or none is averaged. Warns
    when checkpoints differ in time, or in mode sync in version: then parameters belong to different steps.
    """
    with local_files(path_of(directory)) as folder:
        return _read_parameters(folder, average)


def _read_parameters(directory: str, average: int | None) -> dict[str, np.ndarray]:
    pieces: dict[str, list[tuple[int, int, np.ndarray]]] = {}
    infos: dict[str, ParameterInfo] = {}
    all_facts: dict[int, Header] = {}
    are_averaged = False
    for index in sorted({checkpoint.server for checkpoint in found(directory)}):
        facts, shards = _newest_whole(directory, index, average)
        all_facts[index] = facts
        for info, begin, end, values, is_averaged in shards:
            are_averaged = are_averaged or is_averaged
            if infos.setdefault(info.name, info) != info:
                raise StorageError(f"servers in '{directory}' do not agree about '{info.name}'")
            pieces.setdefault(info.name, []).append((begin, end, values))
    _require_all(directory, all_facts)
    if average is not None and not are_averaged:
        raise ClusterError(f"no parameter in '{printable(directory)}' has an average")
    return {name: join_blocks(info, pieces[name]) for name, info in sorted(infos.items())}


def write_program(directory: str, program: Program) -> None:
    """Writes the program of a job beside its checkpoints. A disk that fails does not stop training: then it is logged."""
    try:
        if is_url(directory):
            with tempfile.TemporaryDirectory(prefix="paddle_mini_") as folder:
                write_program(folder, program)
                ObjectStore(directory).put(os.path.join(folder, PROGRAM + ".pdmodel"))
        else:
            _core.write_model(os.path.join(directory, PROGRAM + ".pdmodel"), program.to_bytes(), None)
    except (Error, OSError) as error:
        _log.warning("the program of the job can't be written, so no model can be made from checkpoints: %s", error)


def write_model(
    directory: str, prefix: Path, fetches: Sequence[str], feeds: Sequence[str] = (), average: int | None = None
) -> list[str]:
    """Writes prefix.pdmodel and prefix.pdiparams, which compute `fetches`, from the job's program and read_parameters().
    Returns the names to feed: feeds, or without any the inputs of the program that are needed.

    ProgramError for names that the program does not have, or a file that is missing or damaged; StorageError when the model
    needs a variable that servers don't have, as statistics of batch normalization; errors of read_parameters().
    """
    with local_files(path_of(directory)) as folder:
        program = read_program(os.path.join(folder, PROGRAM))
    needed = list(feeds) or _inputs(program, fetches)
    names = [var.name for var in program.clone(for_test=True).prune(needed, fetches).list_vars() if var.persistable]
    values = read_parameters(directory, average)
    missing = [name for name in names if name not in values]
    if missing:
        raise StorageError(f"servers don't have '{printable(missing[0])}', which the model needs: save_model() has it")
    scope = Scope()
    for name in names:
        scope.set(name, values[name])
    save_inference_model(prefix, needed, list(fetches), program=program, scope=scope)
    return needed


def _inputs(program: Program, fetches: Sequence[str]) -> list[str]:
    """The variables that have to be fed."""
    block = program.global_block()
    written = {name for op in block.ops for name in op.output_names}
    inputs = [name for name, var in block.vars.items() if not var.persistable and name not in written]
    pruned = program.clone(for_test=True).prune(inputs, fetches)
    read = {name for one in pruned.blocks for op in one.ops for name in op.input_names}
    return [name for name in inputs if name in read or name in fetches]


def _newest_whole(directory: str, index: int, average: int | None) -> tuple[Header, list[_Piece]]:
    damaged: list[str] = []
    for checkpoint in found(directory, index):
        try:
            with verified(checkpoint.path) as (file, facts):
                shards = [_piece(one, average) for one in blocks(file, facts)]
        except StorageError as error:
            damaged.append(str(error))
            continue
        for problem in damaged:
            warn(f"{printable(problem, 2000)}; '{printable(checkpoint.path)}' is taken")
        return facts, shards
    raise StorageError(f"no checkpoint of server {index} in '{directory}' is intact: {'; '.join(damaged)}")


def _piece(shard: ParameterShard, average: int | None) -> _Piece:
    is_averaged = shard.is_averaged
    values = shard.values(average if is_averaged else None)
    return shard.info, shard.block.begin, shard.block.end, values, is_averaged


def none_in(directory: str) -> StorageError:
    """The error for a directory without checkpoints of servers."""
    trainers = os.path.isdir(os.path.join(directory, FOLDER))
    hint = f": '{FOLDER}' in it has those of collective mode, which CheckpointManager restores" if trainers else ""
    return StorageError(f"no checkpoints of servers in '{directory}'{hint}")


def _require_all(directory: str, all_facts: dict[int, Header]) -> None:
    def different(word: str) -> list[str]:
        return sorted({shown(facts.get(word)) for facts in all_facts.values()})

    if not all_facts:
        raise none_in(directory)
    for word in ("job", "servers"):
        if len(different(word)) > 1:
            raise StorageError(f"the checkpoints in '{directory}' differ in '{word}': {', '.join(different(word))}")
    servers = next(iter(all_facts.values()))["servers"]
    missing = [index for index in range(servers) if index not in all_facts]
    if missing:
        raise StorageError(f"the checkpoint of server {missing[0]} of {servers} is not in '{directory}'")
    # In other modes a server counts the pushes that had something for it.
    versions = {facts["version"] for facts in all_facts.values() if facts.get("mode") == "sync" and facts["blocks"]}
    for word, differs in (("timestamp", len(different("timestamp")) > 1), ("version", len(versions) > 1)):
        if differs:
            warn(f"the checkpoints in '{printable(directory)}' are of different {word}s: {', '.join(different(word))}")
