# One checkpoint: a folder with all that a training run needs to resume, and a manifest with checksums of its files.
"""
    variables.pdiparams   the program's persistable tensors, in the format of parameter files and in their order
    rows.pdiparams        its persistable selected rows, where it has some: of each the rows' numbers, then the values
    random.txt            the state of the executor's random generator
    manifest.json         written last: step, data, schedules, and length and CRC-32C of each file; SHA-256 in those of format 1

A manifest is {"sha256": …, "checkpoint": {…}} in a canonical encoding: a reader encodes the contents again and compares
bytes, so no damage to it goes unseen either.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import _core, dtypes
from .._core import OpError, ProgramError, Scope, printable
from ..errors import shown
from ..executor import Executor
from ..feeds import element_type
from ..program import Program
from ..scope import raw_name
from .checkpoint_values import Values
from .checksums import Crc32c
from .new_file import CHUNK, NewFile
from .parameters import require_values
from .regular_files import naming_failures, open_regular, sync_directory
from .values import Lod, check_names, naming, require_declared, set_values, zeros_of_averages

FORMAT, FORMATS = 2, (1, 2)
VARIABLES, ROWS, RANDOM, MANIFEST = "variables.pdiparams", "rows.pdiparams", "random.txt", "manifest.json"
FILES = frozenset((VARIABLES, ROWS, RANDOM, MANIFEST))


class Checkpoint(NamedTuple):
    """An intact checkpoint in memory."""

    step: int
    data: Any
    program: str  # its program_sum
    schedules: dict[str, tuple[str, Any]]  # class and state
    tensors: dict[str, tuple[np.ndarray, Lod]]
    rows: dict[str, tuple[np.ndarray, np.ndarray, int]]  # numbers, values, rows of the whole table
    random: str


def held_names(program: Program, scope: Scope) -> tuple[list[str], list[str]]:
    """The program's persistable tensors, and its selected rows, in byte order.

    OpError when one has no value in the scope or averages stand there in place of parameters, ProgramError for
    what is neither of the two kinds, ShapeError for a value that would not fit at the restart.
    """
    names: dict[int, list[str]] = {dtypes.TENSOR: [], dtypes.SELECTED_ROWS: []}
    for var in sorted(program.global_block().vars.values(), key=lambda var: os.fsencode(var.name)):
        if not var.persistable or var.kind in (dtypes.FEED_LIST, dtypes.FETCH_LIST):
            continue
        if var.kind not in names:
            raise ProgramError(
                f"'{printable(var.name)}' is persistable and of kind {var.kind}: a checkpoint holds tensors and selected rows"
            )
        require_values(program, [var.name], scope)
        names[var.kind].append(var.name)
    _require_raw(names[dtypes.TENSOR], scope)
    return names[dtypes.TENSOR], names[dtypes.SELECTED_ROWS]


def _require_raw(names: Iterable[str], scope: Scope) -> None:
    applied = next((name for name in names if raw_name(name) in scope), None)
    if applied is not None:
        raise OpError(f"'{applied}' holds an average: leave apply(), or call restore() of the ParameterAverage, first")


def schedule_states(program: Program) -> dict[str, Any]:
    """A copy of class and state of the program's learning-rate schedules, by variable; ProgramError for a state that is not
    JSON."""
    schedules: Mapping[str, Any] = program.schedules
    states = {name: {"class": type(rate).__name__, "state": rate.state_dict()} for name, rate in schedules.items()}
    try:
        return dict(json.loads(json.dumps(states)))
    except (TypeError, ValueError) as error:
        raise ProgramError(f"the state of a learning-rate schedule can't be saved: {error}") from None


def write_checkpoint(folder: str, facts: Mapping[str, Any], values: Values) -> None:
    """Fills an empty folder; all of it is on the disk afterwards. facts: step, data, schedules, program and what
    else the manifest shall hold."""
    files: dict[str, NewFile] = {}
    about_rows: dict[str, Any] = {}
    with NewFile(folder, VARIABLES, Crc32c()) as file:
        tensor_bytes = {name: sum(map(file.write, pieces)) for name, pieces in values.tensors}
        files[VARIABLES] = file
    if values.has_rows:
        with NewFile(folder, ROWS, Crc32c()) as file:
            for name, height, arrays in values.rows:
                about_rows[name] = {"height": height, "bytes": [file.write(data) for data in arrays]}
            files[ROWS] = file
    with NewFile(folder, RANDOM, Crc32c()) as file:
        file.write(values.random.encode("ascii"))
        files[RANDOM] = file
    manifest = {
        "format": FORMAT,
        **facts,
        "made_by": _provenance(),
        "tensors": tensor_bytes,
        "rows": about_rows,
        "files": {name: file.facts() for name, file in files.items()},
    }
    with NewFile(folder, MANIFEST, Crc32c()) as file:
        file.write(_spelled(manifest))
    sync_directory(folder)


def program_sum(program: Program) -> str:
    """SHA-256 of a program's bytes without the lines of Python that added its operators."""
    description = program.describe()
    for block in description["blocks"]:
        for op in block["ops"]:
            op["attrs"] = [attr for attr in op["attrs"] if attr[0] != "op_callstack"]
    return hashlib.sha256(_core.encode_program(description)).hexdigest()


def _provenance() -> dict[str, str]:
    from .. import __version__  # which is set after this module is imported

    return {
        "paddle_mini": __version__,
        "numpy": np.__version__,
        "machine": os.uname().machine,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _spelled(facts: Mapping[str, Any]) -> bytes:
    total = hashlib.sha256(json.dumps(facts).encode("ascii")).hexdigest()
    return (json.dumps({"sha256": total, "checkpoint": facts}, indent=1) + "\n").encode("ascii")


def read_manifest(folder: str) -> dict[str, Any]:
    """The contents of the manifest; ProgramError if it is missing or damaged."""
    path = os.path.join(folder, MANIFEST)
    data = _core.read_file(path)
    with naming(path):
        try:
            facts = json.loads(data)["checkpoint"]
            whole = _spelled(facts) == data
        except (ValueError, KeyError, TypeError, RecursionError):
            whole = False
        if not whole or not isinstance(facts, dict):
            raise ProgramError("the manifest is cut off or damaged")
        if facts.get("format") not in FORMATS:
            raise ProgramError(f"the checkpoint is of format {shown(facts.get('format'))}, not of {FORMATS[0]} or {FORMATS[1]}")
    return facts


def read_checkpoint(folder: str) -> Checkpoint:
    """All of a checkpoint, in memory; ProgramError that names the file when one is missing or damaged."""
    facts = read_manifest(folder)
    with naming_failures(f"can't read '{folder}'"):
        try:
            with _tensors_of(folder, VARIABLES, facts) as next_tensor:
                tensors = {name: next_tensor(size) for name, size in facts["tensors"].items()}
            rows = {}
            if facts["rows"]:
                with _tensors_of(folder, ROWS, facts) as next_tensor:
                    for name, about in facts["rows"].items():
                        numbers, values = (next_tensor(size)[0].copy() for size in about["bytes"])
                        Scope().set_rows(name, numbers, values, about["height"])  # refuses rows outside the table
                        rows[name] = (numbers, values, about["height"])
            random = _whole_file(folder, RANDOM, facts).tobytes().decode("ascii")
            schedules = {name: (about["class"], about["state"]) for name, about in facts["schedules"].items()}
            return Checkpoint(facts["step"], facts["data"], facts["program"], schedules, tensors, rows, random)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ProgramError(f"'{folder}': the manifest does not describe a checkpoint: {shown(error)}") from None


def _whole_file(folder: str, name: str, facts: Mapping[str, Any]) -> np.ndarray:
    """The bytes of the file, whose checksum is verified."""
    path, expected = os.path.join(folder, name), facts["files"][name]
    checksum = Crc32c() if Crc32c.name in expected else hashlib.sha256()
    with naming(path), open(path, "rb", opener=open_regular) as file:
        size = os.fstat(file.fileno()).st_size
        if size != expected["bytes"]:
            raise ProgramError(f"it has {size} bytes, {shown(expected['bytes'])} were written")
        data = np.empty(size, "uint8")
        for begin in range(0, size, CHUNK):
            part = data.data[begin : begin + CHUNK]
            if file.readinto(part) != len(part):
                raise ProgramError("it became shorter")
            checksum.update(part)
        if checksum.hexdigest() != expected[checksum.name]:
            raise ProgramError("it is damaged: its checksum is not the manifest's")
    return data


@contextmanager
def _tensors_of(folder: str, name: str, facts: Mapping[str, Any]) -> Iterator[Callable[[int], tuple[np.ndarray, Lod]]]:
    """The block calls this with the size of each tensor in the file, one after another, for the tensor, whose elements stay in
    the file's bytes."""
    data, position = _whole_file(folder, name, facts), 0

    def next_tensor(size: int) -> tuple[np.ndarray, Lod]:
        nonlocal position
        if not 0 < size <= len(data):
            raise ProgramError(f"the manifest has a tensor of {size} bytes in it")
        array, lod, end = _core.read_tensor(data[: position + size], position)
        if end != position + size:
            raise ProgramError(f"a tensor ends after {end - position} of {size} bytes")
        position = end
        return array, lod

    with naming(os.path.join(folder, name)):
        yield next_tensor
        if position != len(data):
            raise ProgramError(f"the manifest accounts for {position} of its {len(data)} bytes")


def require_fit(checkpoint: Checkpoint, program: Program, exe: Executor, scope: Scope) -> None:
    """ProgramError, ShapeError or OpError if put_back would fail; changes nothing."""
    kinds = (dtypes.TENSOR, dtypes.SELECTED_ROWS)
    for name, zeros in zeros_of_averages(program, checkpoint.tensors).items():
        checkpoint.tensors[name] = (zeros, [])
    wanted = {var.name for var in program.global_block().vars.values() if var.persistable and var.kind in kinds}
    found = checkpoint.tensors.keys() | checkpoint.rows.keys()
    check_names(sorted(wanted - found), sorted(found - wanted))
    _require_raw(sorted(found), scope)
    for name, (array, _) in checkpoint.tensors.items():
        require_declared(program, name, dtypes.TENSOR, element_type(array.dtype), list(array.shape))
    for name, (_, values, height) in checkpoint.rows.items():
        require_declared(program, name, dtypes.SELECTED_ROWS, element_type(values.dtype), [height, *values.shape[1:]])
    schedules = {name: type(rate).__name__ for name, rate in program.schedules.items()}
    saved = {name: kind for name, (kind, _) in checkpoint.schedules.items()}
    if schedules != saved:
        raise ProgramError(f"the program's learning-rate schedules are {schedules or 'none'}, the checkpoint's {saved or 'none'}")
    Executor(exe.place).set_random_state(checkpoint.random)  # raises for an invalid state


def put_back(checkpoint: Checkpoint, program: Program, exe: Executor, scope: Scope) -> None:
    """Gives the program's variables, its schedules and the executor the state of a checkpoint that fits; the
    schedules keep their state if the scope is in use by a run, or another check fails."""
    schedules: Mapping[str, Any] = program.schedules
    before = {name: rate.state_dict() for name, rate in schedules.items()}
    try:
        for name, rate in schedules.items():
            rate.set_state_dict(checkpoint.schedules[name][1])
        with scope.editing([*checkpoint.tensors, *checkpoint.rows]):
            set_values(scope, program, checkpoint.tensors)
            for name, (numbers, values, height) in checkpoint.rows.items():
                scope.set_rows(name, numbers, values, height)
        exe.set_random_state(checkpoint.random)
    except BaseException:
        for name, rate in schedules.items():
            rate.set_state_dict(before[name])
        raise
