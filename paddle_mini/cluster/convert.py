# Assembles whole parameters, and models, from the directory of a job: its program and the checkpoints of all servers.
from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Sequence

import numpy as np

from .. import _core
from .._core import Error, Scope, printable
from ..errors import shown
from ..io.model import read_program, save_inference_model
from ..io.parameters import Path
from ..io.regular_files import path_of
from ..program import Program
from .errors import StorageError
from .object_store import ObjectStore, is_url, local_files
from .process_log import ProcessLogger
from .servers.checkpoint_file import blocks, found, verified
from .shards import ParameterInfo, join_blocks
from .wire import Header

PROGRAM = "program"
"""The program that trains, in the directory of the job, without the end .pdmodel."""
_log = ProcessLogger(__name__)
_Piece = tuple[ParameterInfo, int, int, np.ndarray]


def read_parameters(directory: str, average: int | None = None) -> dict[str, np.ndarray]:
    """The parameters, or one of their averages, from the newest intact checkpoint of each server.

    StorageError when a server's checkpoint is missing, or jobs or numbers of servers differ; WrongShape when blocks do
    not make a whole parameter; ClusterError when a parameter does not have this average. Warns when checkpoints differ
    in time or version: then parameters belong to different steps.
    """
    with local_files(path_of(directory)) as folder:
        return _read_parameters(folder, average)


def _read_parameters(directory: str, average: int | None) -> dict[str, np.ndarray]:
    pieces: dict[str, list[tuple[int, int, np.ndarray]]] = {}
    infos: dict[str, ParameterInfo] = {}
    all_facts: dict[int, Header] = {}
    for index in sorted({checkpoint.server for checkpoint in found(directory)}):
        facts, shards = _newest_whole(directory, index, average)
        all_facts[index] = facts
        for info, begin, end, values in shards:
            if infos.setdefault(info.name, info) != info:
                raise StorageError(f"servers in '{directory}' do not agree about '{info.name}'")
            pieces.setdefault(info.name, []).append((begin, end, values))
    _require_all(directory, all_facts)
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
                shards = [(one.info, one.block.begin, one.block.end, one.values(average)) for one in blocks(file, facts)]
        except StorageError as error:
            damaged.append(str(error))
            continue
        for problem in damaged:
            warnings.warn(f"{printable(problem, 2000)}; '{printable(checkpoint.path)}' is taken", stacklevel=5)
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
                stacklevel=4,
            )
