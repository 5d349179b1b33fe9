# Variables in a folder, one per file or all in one file: the functions and formats of PaddlePaddle 1.x.
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import ProgramError, Scope
from ..errors import shown
from ..guards import default_main_program
from ..program import Program
from ..scope import scope_or_global
from ..variable import Parameter, Variable, name_of
from .parameters import Path, make_folder, parameter_names, require_values
from .regular_files import path_of
from .values import naming, set_values

Predicate = Callable[[Variable], bool]


def save_vars(
    executor: Any,
    dirname: Path,
    main_program: Program | None = None,
    vars: Sequence[Variable | str] | None = None,
    predicate: Predicate | None = None,
    filename: str | None = None,
    scope: Scope | None = None,
) -> None:
    """Writes variables of a program into a folder, which is made.

    vars: variables or names; None: the persistable ones for which predicate says True (None: all).
    filename None: a file for each, of the variable's name; otherwise one file with all of them by name,
    one after the other. executor may be None: values are the scope's. Each file is there whole or as it
    was before. OpError when a variable has no value, before anything is written; ProgramError when a
    file can't be written or a name would leave the folder.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_vars(None, "folder", vars=["weight"])
        >>> pm.io.load_vars(None, "folder", vars=["weight"])
    """
    program = default_main_program() if main_program is None else main_program
    names, scope = _names(program, vars, predicate), scope_or_global(scope)
    require_values(program, names, scope)
    files = _files(dirname, names, filename)
    make_folder(path_of(dirname))
    for path in files:
        make_folder(os.path.dirname(path))
    with scope.reading():
        for path, inside in files.items():
            _core.save_parameters(scope, path, inside)


def load_vars(
    executor: Any,
    dirname: Path,
    main_program: Program | None = None,
    vars: Sequence[Variable | str] | None = None,
    predicate: Predicate | None = None,
    filename: str | None = None,
    scope: Scope | None = None,
) -> None:
    """Reads what save_vars, or PaddlePaddle's save_vars, wrote; the arguments are save_vars's.

    All files are read and held against the program before the scope is changed: ProgramError for a file
    that is missing, cut off, longer than its tensor or damaged, ShapeError for a value that does not fit.
    vars, predicate: which variables, as of save_vars.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_vars(None, "folder", vars=["weight"])
        >>> pm.io.load_vars(None, "folder", vars=["weight"])
    """
    program = default_main_program() if main_program is None else main_program
    load_checked_vars(dirname, program, _names(program, vars, predicate), filename, scope, None)


def load_checked_vars(
    dirname: Path, program: Program, names: list[str], filename: str | None, scope: Scope | None, checksum: int | None
) -> None:
    """load_vars of files that, one after the other, have this checksum, unless that is None."""
    scope = scope_or_global(scope)
    files = _files(dirname, names, filename)
    if filename is not None:
        for path, inside in files.items():
            _core.load_parameters(scope, path, program.to_bytes(), inside, checksum)
        return
    values, found = {}, 0
    for path, (name,) in files.items():
        data = _core.read_array(path)
        if checksum is not None:
            found = _core.crc32c(data.data, found)
        with naming(path):
            array, lod, used = _core.read_tensor(data)
            if used != len(data):
                raise ProgramError(f"{len(data) - used} bytes follow the tensor")
        values[name] = (array, lod)
    with naming(path_of(dirname)):
        if files:
            _core.require_parameters(checksum, found)
        set_values(scope, program, values)


def save_params(
    executor: Any, dirname: Path, main_program: Program | None = None, filename: str | None = None, scope: Scope | None = None
) -> None:
    """save_vars of the program's parameters.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_params(None, "folder", filename="parameters")
    """
    save_vars(executor, dirname, main_program, None, _is_parameter, filename, scope)


def load_params(
    executor: Any, dirname: Path, main_program: Program | None = None, filename: str | None = None, scope: Scope | None = None
) -> None:
    """load_vars of the program's parameters.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_params(None, "folder")
        >>> pm.io.load_params(None, "folder")
    """
    load_vars(executor, dirname, main_program, None, _is_parameter, filename, scope)


def save_persistables(
    executor: Any, dirname: Path, main_program: Program | None = None, filename: str | None = None, scope: Scope | None = None
) -> None:
    """save_vars of all persistable variables: parameters, accumulators of optimizers, learning rates, averages.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_persistables(None, "folder")
    """
    save_vars(executor, dirname, main_program, None, None, filename, scope)


def load_persistables(
    executor: Any, dirname: Path, main_program: Program | None = None, filename: str | None = None, scope: Scope | None = None
) -> None:
    """load_vars of all persistable variables.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_persistables(None, "folder", filename="all")
        >>> pm.io.load_persistables(None, "folder", filename="all")
    """
    load_vars(executor, dirname, main_program, None, None, filename, scope)


def _is_parameter(var: Variable) -> bool:
    return isinstance(var, Parameter)


def _names(program: Program, vars: Sequence[Variable | str] | None, predicate: Predicate | None) -> list[str]:
    """In byte order, the order of PaddlePaddle's combined files."""
    if vars is not None and not isinstance(vars, (list, tuple)):
        raise ProgramError(f"vars must be a list of variables or names, not {type(vars).__name__}")
    persistable, block = parameter_names(program), program.global_block()
    if vars is None:
        return [name for name in persistable if predicate is None or predicate(block.var(name))]
    return sorted({block.var(name_of(var)).name for var in vars})


def _files(dirname: Path, names: list[str], filename: str | None) -> dict[str, list[str]]:
    """Which variables each file holds."""
    folder = path_of(dirname)
    if filename is not None:
        return {os.path.join(folder, filename): names} if names else {}
    for name in names:
        if any(part in ("", ".", "..") for part in name.split("/")):
            raise ProgramError(f"{shown(name)} is not a valid file name; pass filename to write one file for all")
    return {os.path.join(folder, name): [name] for name in names}
