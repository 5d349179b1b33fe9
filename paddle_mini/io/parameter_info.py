# PREFIX.pdiparams.info: what PaddlePaddle's jit.save keeps of parameters besides their values, for its jit.load. A model
# that was read with this file is written with it again.
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .. import _core
from .._core import ProgramError
from ..errors import shown
from ..program import Program
from ..variable import Parameter
from .pickle_writer import info_pickle

_TYPES = {"structured_name": str, "stop_gradient": bool, "trainable": bool}


def read_parameter_info(prefix: str, program: Program) -> None:
    """Copies the facts in the file, if it exists, to the program's variables. ProgramError for a damaged file."""
    path = prefix + ".pdiparams.info"
    if not os.path.exists(path):
        return
    try:
        entries = _core.read_pickle(_core.read_file(path))
    except ProgramError as error:
        raise ProgramError(f"'{path}': {error}") from None
    for name, entry in entries.items():
        if not isinstance(entry, dict) or any(not isinstance(entry.get(key, kind()), kind) for key, kind in _TYPES.items()):
            raise ProgramError(
                f"'{path}': its entry {shown(name)} is not the description of a parameter that PaddlePaddle writes"
            )
    program.parameter_info = {name: {key: entry[key] for key in _TYPES if key in entry} for name, entry in entries.items()}


def parameter_info_file(prefix: str, program: Program, names: list[str]) -> tuple[str, bytes | None]:
    """The path, and what the file is to hold for these variables. None where the program was read without such a file:
    a file that is there belongs to another model and is removed."""
    data = info_pickle({name: _entry(program, name) for name in names}) if program.parameter_info else None
    return prefix + ".pdiparams.info", data


def _entry(program: Program, name: str) -> Mapping[str, Any]:
    var = program.global_block().var(name)
    new = {"structured_name": name, "stop_gradient": var.stop_gradient}
    if isinstance(var, Parameter):
        new["trainable"] = bool(var.trainable)
    return program.parameter_info.get(name, new)
