# States: the variables of a program as a plain dict of NumPy arrays, in .pdparams, .pdopt and safetensors files.
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core, dtypes
from .._core import OpError, ProgramError, Scope, as_array, printable
from ..errors import shown
from ..feeds import element_type, unmasked
from ..program import Program
from ..scope import scope_or_global
from .parameters import Path, load_parameters, make_folder, parameter_names, require_file_prefix, require_values
from .pickle_writer import state_pieces
from .regular_files import path_of
from .safetensors_file import safetensors_pieces
from .values import check_names, naming, plain, require_value, set_values, zeros_of_averages

MOST_DIMENSIONS = 32  # as kMostDims in cpp/program/state_array.h


def get_state(program: Program, scope: Scope | None = None) -> dict[str, np.ndarray]:
    """A copy of each persistable variable of the program, by name; bfloat16 as its bits in uint16.

    OpError when one has no value, or has sequence offsets, which a state does not hold (save_vars does).
    Returns a dict of arrays.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.get_state(pm.default_main_program())["weight"].shape
        (8, 4)
    """
    return _state_of(program, scope_or_global(scope), copy=True)


def _state_of(program: Program, scope: Scope, copy: bool | None) -> dict[str, np.ndarray]:
    names = parameter_names(program)
    with scope.reading():
        for name in names:
            require_value(name, scope)
            if scope.lod(name):
                raise OpError(f"'{printable(name)}' has sequence offsets, which a state does not hold; save_vars writes them")
        return {name: scope.get(name, copy=copy) for name in names}


def set_state(
    program: Program, state: Mapping[str, np.ndarray], scope: Scope | None = None, strict: bool = True
) -> tuple[list[str], list[str]]:
    """Gives the program's persistable variables the arrays of these names.

    state: an array of the variable's dtype and shape for each name; bfloat16 as its bits in uint16.
    strict: ProgramError when a variable has no array or an array no variable. Otherwise these two lists of
    names are returned and what has both is set. ShapeError when dtype or shape is not the variable's.
    Nothing is set on an error.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> state = {"weight": np.zeros((8, 4), "float32")}
        >>> missing, unused = pm.io.set_state(pm.default_main_program(), state, strict=False)
        >>> len(missing), unused
        (1, [])
    """
    names = parameter_names(program)
    _require_mapping(state)
    unnamed = next((name for name in state if not isinstance(name, str)), None)
    if unnamed is not None:
        raise ProgramError(f"state has the key {shown(unnamed)}; its keys must be names of variables")
    state = {**zeros_of_averages(program, state), **state}
    missing = [name for name in names if name not in state]
    unexpected = sorted(set(state) - set(names))
    if strict:
        check_names(missing, unexpected)
    found = {name: state[name] for name in names if name in state}
    set_values(scope_or_global(scope), program, plain(found))
    return missing, unexpected


def _require_mapping(state: Any) -> None:
    if not isinstance(state, Mapping):
        raise ProgramError(f"state is of type {type(state).__name__}, it must be a dict of arrays by name")


def _is_text(name: Any) -> bool:
    try:
        return isinstance(name, str) and name.encode() is not None
    except UnicodeEncodeError:  # a half of a character
        return False


def save_state(path: Path, state: Mapping[str, np.ndarray]) -> None:
    """Writes a dict of arrays: a safetensors file where the path ends with .safetensors (uint16 there is
    bfloat16), otherwise what paddle.load and paddle.static.load read (.pdparams, .pdopt). The folder is made.

    state: arrays by name. The file is replaced atomically. ProgramError for a value that is not an array of an element type.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_state("linear.safetensors", pm.io.get_state(pm.default_main_program()))
        >>> pm.io.load_state("linear.safetensors")["weight"].shape
        (8, 4)
    """
    _save_states({path_of(path): state})


def _save_states(states: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes a file for each path, all of them or none."""
    files = []
    for path, state in states.items():
        arrays = _arrays_of(state)
        files.append((path, safetensors_pieces(arrays) if path.endswith(".safetensors") else state_pieces(arrays)))
    for path in states:
        make_folder(os.path.dirname(path))
    _core.write_files(files)


def _arrays_of(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Contiguous arrays of little-endian elements."""
    _require_mapping(state)
    arrays = {}
    for name, value in state.items():
        what = f"a state holds arrays by name; {shown(name)}"
        array = as_array(unmasked(value, what), what)
        if not _is_text(name) or array.dtype.hasobject or element_type(array.dtype) not in dtypes.NUMBERS:
            raise ProgramError(f"a state holds arrays by name; {shown(name)} is {type(value).__name__} of {array.dtype}")
        if array.ndim > MOST_DIMENSIONS:
            raise ProgramError(
                f"{shown(name)} has {array.ndim} dimensions, an array in a file has at most {MOST_DIMENSIONS}; reshape it"
            )
        arrays[name] = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
    return arrays


def load_state(path: Path, variable_names: bool = False) -> dict[str, Any]:
    """Reads a safetensors file, a state that PaddlePaddle or save_state pickled, or PREFIX.pdiparams beside PREFIX.pdmodel.

    No code in the file is run: it may hold arrays, and numbers, strings, lists and dicts as optimizers write
    them; ProgramError for all else, and for a file that is cut off or damaged. PaddlePaddle's layers write
    arrays by structure ("0.weight"); variable_names=True: under the names of the variables (linear_0.w_0). Large arrays of
    a file of save_state are in one memory, that of the file, which is released with the last of them.
    Returns a dict of arrays, numbers, strings, lists and dicts by name.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save(pm.default_main_program(), "model/linear")
        >>> pm.io.load_state("model/linear.pdparams")["weight"].shape
        (8, 4)
    """
    path = path_of(path)
    if path.endswith(".pdiparams"):
        return _state_of_model(path)
    data = _core.read_array(path)
    with naming(path):
        if path.endswith(".safetensors"):
            return _core.read_safetensors(data)
        return _core.read_state(data, variable_names)


def _state_of_model(path: str) -> dict[str, Any]:
    """The arrays of PREFIX.pdiparams by name: the file has none, the program in PREFIX.pdmodel has."""
    model = path.removesuffix(".pdiparams") + ".pdmodel"
    if not os.path.exists(model):
        raise ProgramError(f"'{path}' has no names of variables, and '{model}', which has them, is not beside it")
    program, scope = Program.from_bytes(_core.read_file(model)), Scope()
    load_parameters(path, program, scope)
    return get_state(program, scope)


def save(program: Program, prefix: Path, scope: Scope | None = None) -> None:
    """Writes prefix.pdparams (parameters), prefix.pdopt (all other persistable variables) and prefix.pdmodel (the
    program), as paddle.static.save does. The first two are written together, then the program; a file that can't be written
    leaves all of its step as they were.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save(pm.default_main_program(), "model/linear")
        >>> pm.io.load(pm.default_main_program(), "model/linear")
        ([], [])
    """
    prefix = require_file_prefix(state_prefix(prefix))
    scope = scope_or_global(scope)
    parameters = {parameter.name for parameter in program.all_parameters()}
    require_values(program, parameter_names(program), scope)
    with scope.reading():
        parts: dict[str, dict[str, np.ndarray]] = {prefix + ".pdparams": {}, prefix + ".pdopt": {}}
        for name, array in _state_of(program, scope, copy=None).items():
            parts[prefix + (".pdparams" if name in parameters else ".pdopt")][name] = array
        _save_states(parts)
    _core.write_model(prefix + ".pdmodel", program.to_bytes(), None)


def load(program: Program, prefix: Path, scope: Scope | None = None, strict: bool = True) -> tuple[list[str], list[str]]:
    """Reads prefix.pdparams and, if the program has persistable variables that are not parameters,
    prefix.pdopt. Returns and raises as set_state; strict=False does without a .pdopt file.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save(pm.default_main_program(), "model/linear")
        >>> missing, unused = pm.io.load(pm.default_main_program(), "model/linear")
    """
    prefix = state_prefix(prefix)
    state = load_state(prefix + ".pdparams", variable_names=True)
    others = set(parameter_names(program)) - {parameter.name for parameter in program.all_parameters()}
    if others and (strict or os.path.exists(prefix + ".pdopt")):
        optimizer_state = load_state(prefix + ".pdopt")
        twice = sorted(state.keys() & optimizer_state.keys())
        if twice:
            raise ProgramError(f"'{prefix}.pdopt': '{twice[0]}' is in the .pdparams file too")
        state.update(optimizer_state)
    with naming(prefix):
        return set_state(program, state, scope, strict)


def state_prefix(path: Path) -> str:
    """PREFIX for PREFIX, PREFIX.pdparams, PREFIX.pdopt and PREFIX.pdmodel."""
    text = path_of(path)
    start, suffix = os.path.splitext(text)
    return start if suffix in (".pdparams", ".pdopt", ".pdmodel") else text
