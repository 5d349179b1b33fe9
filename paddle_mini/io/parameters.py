# Parameter files (.pdiparams): the persistable variables of a program, by name, one after the other.
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Union

from .. import _core
from .._core import ProgramError, Scope, printable
from ..errors import shown
from ..program import Program
from ..scope import scope_or_global
from .regular_files import path_of
from .values import require_declared, require_value

Path = Union[str, "os.PathLike[str]"]


def parameter_names(program: Program) -> list[str]:
    """The variables that the program's parameter file holds, in its order."""
    if not isinstance(program, Program):
        raise ProgramError(
            f"program is of type {type(program).__name__}, not a Program; a file or state of values belongs to a Program"
        )
    return _core.parameter_file_order(program.to_bytes())


def save_parameters(path: Path, program: Program, scope: Scope | None = None) -> None:
    """Writes the values of the program's persistable variables; the folder is made.

    The file is there whole or as it was before. A model beside it, PREFIX.pdmodel beside PREFIX.pdiparams, then has the
    checksum of these parameters. OpError when a variable has no value, ProgramError when the file can't be written.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_parameters("linear.pdiparams", pm.default_main_program())
        >>> pm.io.load_parameters("linear.pdiparams", pm.default_main_program())
    """
    file, names, scope = path_of(path), parameter_names(program), scope_or_global(scope)
    require_values(program, names, scope)
    make_folder(os.path.dirname(file))
    _core.save_parameters(scope, file, names)


def require_values(program: Program, names: Iterable[str], scope: Scope) -> None:
    """OpError that names the first variable without a value, ShapeError for one whose value could not be loaded again."""
    for name in names:
        require_value(name, scope)
        info = scope.info(name)
        require_declared(program, name, info["kind"], info["dtype"], info["shape"])


def require_file_prefix(prefix: str) -> str:
    """The prefix; ProgramError if the files' names would have nothing before their suffixes."""
    if os.path.basename(prefix):
        return prefix
    example = os.path.join(prefix, "model")
    raise ProgramError(f"{shown(prefix)} is not how names of files begin: give one such as {shown(example)}")


def make_folder(folder: str) -> None:
    """ProgramError if the folder does not exist and can't be created."""
    try:
        os.makedirs(folder or ".", exist_ok=True)
    except OSError as error:
        raise ProgramError(f"can't make the folder '{printable(folder)}': {error.strerror}") from None


def load_parameters(path: Path, program: Program, scope: Scope | None = None, check: bool = True) -> None:
    """Gives the program's persistable variables the values in the file.

    All of the file is read and held against the program before the scope is changed: ProgramError
    for a file that is cut off, damaged or of another program, ShapeError for a value that does not
    fit its variable.
    check: ProgramError when they are not the parameters that a model beside them was saved with.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_parameters("linear.pdiparams", pm.default_main_program())
        >>> pm.io.load_parameters("linear.pdiparams", pm.default_main_program())
    """
    load_checked(path, program, scope, _core.checksum_beside(path_of(path)) if check else None)


def load_checked(path: Path, program: Program, scope: Scope | None, checksum: int | None) -> None:
    """load_parameters of a file that has this checksum, unless that is None."""
    names = parameter_names(program)
    _core.load_parameters(scope_or_global(scope), path_of(path), program.to_bytes(), names, checksum)
