# Parameter files (.pdiparams): the persistable variables of a program, by name, one after the other.
from __future__ import annotations

import os
from typing import List, Optional, Union

from .. import _core
from .._core import ProgramError, Scope
from ..program import Program
from ..scope import global_scope

Path = Union[str, "os.PathLike[str]"]


def parameter_names(program: Program) -> List[str]:
    """The variables that the program's parameter file holds, in its order."""
    if not isinstance(program, Program):
        raise ProgramError(f"a file of parameters belongs to a Program, not to {type(program).__name__}")
    return _core.parameter_file_order(program.to_bytes())


def save_parameters(path: Path, program: Program, scope: Optional[Scope] = None) -> None:
    """Writes the values of the program's persistable variables.

    The file is there whole or as it was before. OpError when a variable has no value,
    ProgramError when the file can't be written.
    """
    _core.save_parameters(global_scope() if scope is None else scope, os.fspath(path), parameter_names(program))


def load_parameters(path: Path, program: Program, scope: Optional[Scope] = None) -> None:
    """Gives the program's persistable variables the values in the file.

    All of the file is read and held against the program before the scope is changed: ProgramError
    for a file that is cut off, damaged or of another program, ShapeError for a value that does not
    fit its variable.
    """
    names = parameter_names(program)
    _core.load_parameters(global_scope() if scope is None else scope, os.fspath(path), program.to_bytes(), names)
