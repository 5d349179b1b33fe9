# Models: PREFIX.pdmodel, a program, beside its parameters in PREFIX.pdiparams; or both in a folder of PaddlePaddle 1.x.
from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from .. import _core, dtypes
from .._core import ProgramError, Scope, printable
from ..block import Block
from ..errors import shown
from ..executor import Executor
from ..operator import Operator
from ..program import Program
from ..schemas import defaults
from ..scope import scope_or_global
from ..variable import Variable, name_of, names_of
from .parameter_info import parameter_info_file, read_parameter_info
from .parameters import Path, load_checked, make_folder, parameter_names, require_file_prefix, require_values
from .regular_files import path_of
from .variables import load_checked_vars, save_persistables

Vars = Sequence[Variable | str]

# The program's file in a folder of PaddlePaddle 1.x.
FOLDER_MODEL = "__model__"

# At the beginning of the .json files that hold programs of PaddlePaddle 3.
PADDLE3_MAGIC = b'"magic":"pir"'


def save_inference_model(
    prefix: Path,
    feed_vars: Vars,
    fetch_vars: Vars,
    executor: Executor | None = None,
    program: Program | None = None,
    scope: Scope | None = None,
    model_filename: str | None = None,
    params_filename: str | None = None,
) -> None:
    """Writes what computes `fetch_vars` from `feed_vars`, and the parameters that takes.

    prefix.pdmodel and prefix.pdiparams are what PaddlePaddle's save_inference_model writes, and what
    pm_run and PaddlePaddle read; without parameters no .pdiparams is written. program: None:
    the program of fetch_vars[0]. Operators of training are left out and is_test is set.

    model_filename or params_filename: prefix is a folder, which is made, as PaddlePaddle 1.x writes it:
    the program in model_filename (None: __model__), the parameters in params_filename (None: each in a
    file of its name).
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_inference_model("model/linear", [x], [y])
        >>> program, feeds, fetches = pm.io.load_inference_model("model/linear")
        >>> feeds
        ['x']
    """
    model = inference_program(feed_vars, fetch_vars, program)
    if model_filename is None and params_filename is None:
        save_program(prefix, model, scope)
        return
    model_filename = model_filename or FOLDER_MODEL
    path = os.path.join(prefix, model_filename)
    if model_filename in (parameter_names(model) if params_filename is None else [params_filename]):
        raise ProgramError(f"save_inference_model: '{printable(model_filename)}' is the name of a parameter's file too")
    if params_filename is not None:
        _save(path, os.path.join(prefix, params_filename), model, scope)
        return
    save_persistables(None, prefix, model, None, scope)
    names, values = parameter_names(model), scope_or_global(scope)
    _core.write_model(path, model.to_bytes(), _core.parameters_checksum(values, names) if names else None)


def inference_program(feed_vars: Vars, fetch_vars: Vars, program: Program | None) -> Program:
    """The program that save_inference_model writes."""
    program = program_to_save(feed_vars, fetch_vars, program)
    feeds, fetches = ([name_of(var) for var in vars] for vars in (feed_vars, fetch_vars))
    return _with_feeds_and_fetches(program.clone(for_test=True).prune(feeds, fetches), feeds, fetches)


def program_to_save(feed_vars: Vars, fetch_vars: Vars, program: Program | None) -> Program:
    """The program for save_inference_model; ProgramError if these arguments do not determine it."""
    for argument, given in (("feed_vars", feed_vars), ("fetch_vars", fetch_vars)):
        if not isinstance(given, (list, tuple)):
            raise ProgramError(f"save_inference_model: {argument} must be a list, not {type(given).__name__}")
        names_of(given, f"save_inference_model: {argument}")
    fed = [name_of(var) for var in feed_vars]
    twice = next((name for name in fed if fed.count(name) > 1), None)
    if twice is not None:
        raise ProgramError(f"save_inference_model: feed_vars has {shown(twice)} twice")
    if not fetch_vars:
        raise ProgramError("save_inference_model: fetch_vars is empty")
    if program is not None:
        return program
    if not isinstance(fetch_vars[0], Variable):
        raise ProgramError("save_inference_model: give the program, or variables instead of names")
    return fetch_vars[0].block.program


def load_inference_model(
    prefix: Path,
    executor: Executor | None = None,
    scope: Scope | None = None,
    model_filename: str | None = None,
    params_filename: str | None = None,
    check: bool = True,
) -> tuple[Program, list[str], list[Variable]]:
    """Reads prefix.pdmodel and prefix.pdiparams: the program, the names to feed, the variables to
    fetch. The parameters go to the scope. Errors as those of load_parameters.

    prefix may be a folder as PaddlePaddle 1.x writes it; the other names are those of save_inference_model.
    check=False takes parameters that are not those saved with the program, as another tool may have changed them.
    model_filename, params_filename: the files in a folder, as of save_inference_model. Returns these three.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_inference_model("model/linear", [x], [y])
        >>> program, feeds, fetches = pm.io.load_inference_model("model/linear")
        >>> exe.run(program, {"x": np.ones((3, 8), "float32")}, fetches)[0].shape
        (3, 4)
    """
    path = prefix_of(prefix) + ".pdmodel"
    if model_filename or params_filename or (os.path.isdir(prefix) and not os.path.exists(path)):
        path = os.path.join(prefix, model_filename or FOLDER_MODEL)
        program, checksum = _program_in(path)
        feeds, fetches = _feeds_and_fetches(program, path)
        load_checked_vars(prefix, program, parameter_names(program), params_filename, scope, checksum if check else None)
        return program, feeds, fetches
    program, checksum = _program_in(path)
    feeds, fetches = _feeds_and_fetches(program, path)
    _load_values(prefix, program, scope, checksum if check else None)
    return program, feeds, fetches


def _feeds_and_fetches(program: Program, path: str) -> tuple[list[str], list[Variable]]:
    feeds, fetches = feed_names(program), fetch_names(program)
    if not fetches:
        raise ProgramError(f"'{path}' fetches nothing: it is not an inference model; load_program reads it")
    block = program.global_block()
    return [block.var(name).name for name in feeds], [block.var(name) for name in fetches]


def feed_names(program: Program) -> list[str]:
    """The variables that the program's feed operators write, by column."""
    return _by_column(program, "feed", lambda op: op.output("Out")[0])


def fetch_names(program: Program) -> list[str]:
    """The variables that the program's fetch operators read, by column."""
    return _by_column(program, "fetch", lambda op: op.input("X")[0])


def _by_column(program: Program, op_type: str, name: Callable[[Operator], str]) -> list[str]:
    first = defaults(op_type)["col"]
    ops = [op for op in program.global_block().ops if op.type == op_type]
    return [name(op) for op in sorted(ops, key=lambda op: op.attr("col", first))]


def prefix_of(path: Path) -> str:
    """PREFIX for PREFIX, PREFIX.pdmodel and PREFIX.pdiparams."""
    text = path_of(path)
    suffix = next((one for one in (".pdmodel", ".pdiparams") if text.endswith(one)), "")
    return text.removesuffix(suffix)


def save_program(prefix: Path, program: Program, scope: Scope | None = None) -> None:
    """Writes a whole program, for training too, its persistable variables, and PREFIX.pdiparams.info, where the program
    was loaded with it: all files, or none. The folder is made.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_program("model/training", pm.default_main_program())
        >>> pm.io.load_program("model/training").global_block().var("weight").shape
        (8, 4)
    """
    prefix = require_file_prefix(prefix_of(prefix))
    info = parameter_info_file(prefix, program, parameter_names(program))
    _save(prefix + ".pdmodel", prefix + ".pdiparams", program, scope, [info])


def _save(
    model_path: str, parameters_path: str, program: Program, scope: Scope | None, others: Sequence[tuple[str, bytes | None]] = ()
) -> None:
    names, scope = parameter_names(program), scope_or_global(scope)
    require_values(program, names, scope)
    for path in (model_path, parameters_path):
        make_folder(os.path.dirname(path))
    if names:
        _core.save_model(scope, names, parameters_path, model_path, program.to_bytes(), others)
    else:
        _core.write_model(model_path, program.to_bytes(), None, others)


def load_program(prefix: Path, scope: Scope | None = None, check: bool = True) -> Program:
    """Reads what save_program or save_inference_model wrote; the variables go to the scope. check: as of
    load_inference_model.

    Returns the program.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_program("model/training", pm.default_main_program())
        >>> [op.type for op in pm.io.load_program("model/training").global_block().ops]
        ['mul', 'elementwise_add']
    """
    program, checksum = _program_in(prefix_of(prefix) + ".pdmodel")
    _load_values(prefix, program, scope, checksum if check else None)
    return program


def _load_values(prefix: Path, program: Program, scope: Scope | None, checksum: int | None) -> None:
    read_parameter_info(prefix_of(prefix), program)
    if parameter_names(program):
        load_checked(prefix_of(prefix) + ".pdiparams", program, scope, checksum)


def read_program(prefix: Path) -> Program:
    """The program in prefix.pdmodel, without its parameters; ProgramError if the file does not exist.

    Returns the program.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_inference_model("model/linear", [x], [y])
        >>> pm.io.read_program("model/linear").all_parameters()[0].name
        'weight'
    """
    return _program_in(prefix_of(prefix) + ".pdmodel")[0]


def _program_in(path: str) -> tuple[Program, int | None]:
    """The program in the file, and the checksum of its parameters that the file holds."""
    _require_no_program_of_paddle3(path)
    data = _core.read_file(path)
    try:
        return Program.from_bytes(data), _core.model_facts(data)[1]
    except ProgramError as error:
        raise ProgramError(f"'{path}': {error}") from None


def _require_no_program_of_paddle3(path: str) -> None:
    """PaddlePaddle 3 writes PREFIX.json where 2.6 wrote PREFIX.pdmodel; a caller may also name this file."""
    other = path.removesuffix(".pdmodel")
    other = other if other.endswith(".json") else other + ".json"
    if os.path.exists(path) or not os.path.isfile(other):
        return
    if PADDLE3_MAGIC in _core.read_file(other)[:100]:
        raise ProgramError(
            f"'{other}' is a program in the format of PaddlePaddle 3, which is not read: save the model with PaddlePaddle 2.6, "
            f"or in 3 with the environment variable FLAGS_enable_pir_api=0, as a .pdmodel file"
        )


def _with_feeds_and_fetches(program: Program, feeds: list[str], fetches: list[str]) -> Program:
    """PaddlePaddle's convention: a `feed` operator for each input, the last one first, and a `fetch`
    operator for each output."""
    block = program.global_block()
    feed, fetch = (_list_variable(block, name, kind) for name, kind in (("feed", dtypes.FEED_LIST), ("fetch", dtypes.FETCH_LIST)))
    for column, name in enumerate(feeds):
        block.prepend_op("feed", {"X": feed}, {"Out": name}, {"col": column, "op_callstack": []})
    for column, name in enumerate(fetches):
        block.append_op("fetch", {"X": name}, {"Out": fetch}, {"col": column, "op_callstack": []})
    for op in block.ops:
        if op.attr("op_device"):
            op.set_attr("op_device", "")
    return program


def _list_variable(block: Block, name: str, kind: int) -> Variable:
    """The list of all feeds, or of all fetches, which their operators share. It has this name unless a tensor has it."""
    while name in block.vars:
        name += "_list"
    return block.create_var(name, kind=kind, persistable=True, stop_gradient=None)
