# paddle-mini verify: compares files with their checksums, and reports files without a checksum.
from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from typing import NamedTuple

from .. import _core
from .._core import Error, ProgramError, printable
from ..cluster.coordinator.coordinator_file import read_state
from ..cluster.servers.checkpoint_file import blocks, verified
from ..errors import printable_lines
from ..io.checkpoint_files import MANIFEST, read_checkpoint, read_manifest
from ..io.model import FOLDER_MODEL
from ..io.parameters import Path, parameter_names
from ..io.regular_files import path_of
from ..io.values import naming
from ..program import Program
from .options import add_json, print_json

UNPROTECTED = 3
"""The exit status if no file is damaged, but one has no checksum."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Exit status: 0 all are as they were written, 1 one is damaged or can't be read, 2 the command line is wrong, "
        "3 none is damaged, but one has no checksum."
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a program, parameters, a state, a checkpoint's or a model's folder, a checkpoint of a server, coordinator.json",
    )
    add_json(parser)
    parser.set_defaults(command=_verify)


def _verify(arguments: argparse.Namespace) -> int:
    all_found = [verify(path) for path in arguments.files]
    if arguments.json:
        print_json([found._asdict() for found in all_found])
    else:
        for found in all_found:
            result = found.damage or ("whole: " if found.protected else "") + found.fact
            print(f"{printable(found.path)}: {printable_lines(result)}")
    if any(found.damage for found in all_found):
        return 1
    return 0 if all(found.protected for found in all_found) else UNPROTECTED


class Verified(NamedTuple):
    """The result of verifying a file. protected: it has a checksum; damage: the error, "" if the file is intact."""

    path: str
    protected: bool
    damage: str
    fact: str


def verify(path: Path) -> Verified:
    """Compares a file, or a folder that is a checkpoint or a model, with its checksum. Does not raise if it is damaged
    or can't be read: `damage` has the reason."""
    path = os.fspath(path)
    try:
        path_of(path)
        fact = _verifier(path)(path)
    except (Error, OSError) as error:
        return Verified(path, True, str(error), "")
    return Verified(path, fact is not None, "", fact or "no checksum: a flipped bit would not be found")


def _verifier(path: str) -> Callable[[str], str | None]:
    """A function that returns what a file is protected by, or None."""
    if os.path.isdir(path):
        if os.path.exists(os.path.join(path, MANIFEST)):
            return _checkpoint
        if os.path.exists(os.path.join(path, FOLDER_MODEL)):
            return _folder
        raise ProgramError(f"'{path}' is a folder, and neither a checkpoint nor a model")
    name = os.path.basename(path)
    by_end: list[tuple[str, Callable[[str], str | None]]] = [
        (".pdmodel", _program),
        (FOLDER_MODEL, _program),
        (".pdiparams", _parameters),
        (".safetensors", _safetensors),
        (".pdparams", _state),
        (".pdopt", _state),
        (".ckpt", _server_checkpoint),
        ("coordinator.json", _coordinator),
    ]
    return next((function for end, function in by_end if name.endswith(end)), _other)


def _checkpoint(path: str) -> str:
    read_checkpoint(path)
    facts = read_manifest(path)
    return "CRC-32C of each file, in its manifest" if facts["format"] > 1 else "SHA-256 of each file, in its manifest"


def _program(path: str) -> str | None:
    data = _core.read_file(path)
    with naming(path):
        is_checked, _ = _core.model_facts(data)
        _core.decode_program(data)
    return "CRC-32C in front of the program" if is_checked else None


def _parameters(path: str) -> str | None:
    expected = _core.checksum_beside(path)
    with naming(path):
        _core.require_parameters(expected, _core.crc32c(_core.read_file(path)))
    return None if expected is None else "CRC-32C in the program beside it"


def _folder(path: str) -> str | None:
    """A program and a file for each parameter, or one for all."""
    model = os.path.join(path, FOLDER_MODEL)
    found = _program(model)
    data = _core.read_file(model)
    expected, total = _core.model_facts(data)[1], 0
    if expected is None:
        return found
    with naming(path):
        names = parameter_names(Program.from_bytes(data))
        others = sorted(set(os.listdir(path)) - {FOLDER_MODEL})
        for name in others if len(others) == 1 and others[0] not in names else names:
            total = _core.crc32c(_core.read_file(os.path.join(path, name)), total)
        _core.require_parameters(expected, total)
    return "CRC-32C in front of the program, of it and of its parameters"


def _safetensors(path: str) -> str | None:
    data = _core.read_array(path)
    with naming(path):
        _core.read_safetensors(data)
        return "CRC-32C in its metadata" if _core.safetensors_is_checked(data) else None


def _state(path: str) -> str | None:
    data = _core.read_file(path)
    with naming(path):
        _core.read_pickle(data)
        return "CRC-32C at its beginning" if _core.pickle_is_checked(data) else None


def _server_checkpoint(path: str) -> str:
    with verified(path) as (file, facts):
        for _ in blocks(file, facts):  # which verifies the file that this one is relative to
            continue
        return "SHA-256 at its end" + (", and of the file that it is relative to" if "base" in facts else "")


def _coordinator(path: str) -> str:
    try:
        job = json.loads(_core.read_file(path))["coordinator"]["job"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ProgramError(f"'{path}' is cut off or damaged") from None
    read_state(os.path.dirname(path) or ".", job)
    return "SHA-256 at its beginning, CRC-32 of each record of its log"


def _other(path: str) -> str | None:
    """A program or a state of another name, or a file without a checksum."""
    data = _core.read_file(path)
    with naming(path):
        if _core.model_facts(data)[0]:
            return _program(path)
        return _state(path) if _core.pickle_is_checked(data) else None
