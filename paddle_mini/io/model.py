# Models: PREFIX.pdmodel, a program, beside its parameters in PREFIX.pdiparams; or both in a folder of PaddlePaddle 1.x.
from __future__ import annotations

import os
from typing import Any, List, Optional, Sequence, Tuple, Union

from .. import _core, dtypes
from .._core import ProgramError, Scope
from ..executor import Executor
from ..program import Program
from ..variable import Variable, name_of
from .parameters import Path, load_parameters, parameter_names, save_parameters
from .variables import load_persistables, save_persistables

Vars = Sequence[Union[Variable, str]]

# The program's file in a folder of PaddlePaddle 1.x.
FOLDER_MODEL = "__model__"


def save_inference_model(prefix: Path, feed_vars: Vars, fetch_vars: Vars, executor: Optional[Executor] = None,
                         program: Optional[Program] = None, scope: Optional[Scope] = None,
                         model_filename: Optional[str] = None, params_filename: Optional[str] = None) -> None:
    """Writes what computes `fetch_vars` from `feed_vars`, and the parameters that takes.

    prefix.pdmodel and prefix.pdiparams are what PaddlePaddle's save_inference_model writes, and what
    pm_run and PaddlePaddle read; there is no .pdiparams when there are no parameters. program: None:
    the program of fetch_vars[0]. Operators of training are left out and is_test is set.

    model_filename or params_filename: prefix is a folder, which is made, as PaddlePaddle 1.x writes it:
    the program in model_filename (None: __model__), the parameters in params_filename (None: each in a
    file of its name).
    """
    program = program_to_save(feed_vars, fetch_vars, program)
    feeds, fetches = ([name_of(var) for var in vars] for vars in (feed_vars, fetch_vars))
    model = _with_feeds_and_fetches(program.clone(for_test=True).prune(feeds, fetches), feeds, fetches)
    if model_filename is None and params_filename is None:
        save_program(prefix, model, scope)
        return
    model_filename = model_filename or FOLDER_MODEL
    if params_filename is None and model_filename in parameter_names(model):
        raise ProgramError(f"save_inference_model: '{model_filename}' is the name of a parameter's file too")
    save_persistables(None, prefix, model, params_filename, scope)
    _core.write_file(os.path.join(prefix, model_filename), model.to_bytes())


def program_to_save(feed_vars: Vars, fetch_vars: Vars, program: Optional[Program]) -> Program:
    """The program that save_inference_model is about; ProgramError when these arguments do not say it."""
    for argument, given in (("feed_vars", feed_vars), ("fetch_vars", fetch_vars)):
        if not isinstance(given, (list, tuple)):
            raise ProgramError(f"save_inference_model: {argument} must be a list, not {type(given).__name__}")
    if not fetch_vars:
        raise ProgramError("save_inference_model: fetch_vars is empty")
    if program is not None:
        return program
    if not isinstance(fetch_vars[0], Variable):
        raise ProgramError("save_inference_model: give the program, or variables instead of names")
    return fetch_vars[0].block.program


def load_inference_model(prefix: Path, executor: Optional[Executor] = None, scope: Optional[Scope] = None,
                         model_filename: Optional[str] = None, params_filename: Optional[str] = None,
                         ) -> Tuple[Program, List[str], List[Variable]]:
    """Reads prefix.pdmodel and prefix.pdiparams: the program, the names to feed, the variables to
    fetch. The parameters go to the scope. Errors as those of load_parameters.

    prefix may be a folder as PaddlePaddle 1.x writes it; the other names are those of save_inference_model.
    """
    path = prefix_of(prefix) + ".pdmodel"
    if model_filename or params_filename or os.path.isdir(prefix) and not os.path.exists(path):
        path = os.path.join(prefix, model_filename or FOLDER_MODEL)
        program = _program_in(path)
        feeds, fetches = _feeds_and_fetches(program, path)
        load_persistables(None, prefix, program, params_filename, scope)
        return program, feeds, fetches
    program = _program_in(path)
    feeds, fetches = _feeds_and_fetches(program, path)
    _load_values(prefix, program, scope)
    return program, feeds, fetches


def _feeds_and_fetches(program: Program, path: str) -> Tuple[List[str], List[Variable]]:
    feeds = sorted((op.attr("col"), op.output("Out")[0]) for op in program.global_block().ops if op.type == "feed")
    fetches = sorted((op.attr("col"), op.input("X")[0]) for op in program.global_block().ops if op.type == "fetch")
    if not fetches:
        raise ProgramError(f"'{path}' fetches nothing: it is no inference model; load_program reads it")
    return [name for _, name in feeds], [program.global_block().var(name) for _, name in fetches]


def prefix_of(path: Path) -> str:
    """PREFIX for PREFIX and for PREFIX.pdmodel."""
    path = os.fspath(path)
    return path[:-len(".pdmodel")] if path.endswith(".pdmodel") else path


def save_program(prefix: Path, program: Program, scope: Optional[Scope] = None) -> None:
    """Writes a whole program, for training too, and its persistable variables."""
    prefix = prefix_of(prefix)
    if parameter_names(program):
        save_parameters(prefix + ".pdiparams", program, scope)
    _core.write_file(prefix + ".pdmodel", program.to_bytes())


def load_program(prefix: Path, scope: Optional[Scope] = None) -> Program:
    """Reads what save_program or save_inference_model wrote; the variables go to the scope."""
    program = read_program(prefix)
    _load_values(prefix, program, scope)
    return program


def _load_values(prefix: Path, program: Program, scope: Optional[Scope]) -> None:
    if parameter_names(program):
        load_parameters(prefix_of(prefix) + ".pdiparams", program, scope)


def read_program(prefix: Path) -> Program:
    """The program in prefix.pdmodel, without its parameters; ProgramError when there is none."""
    return _program_in(prefix_of(prefix) + ".pdmodel")


def _program_in(path: str) -> Program:
    data = _core.read_file(path)
    try:
        return Program.from_bytes(data)
    except ProgramError as error:
        raise ProgramError(f"'{path}': {error}") from None


def _with_feeds_and_fetches(program: Program, feeds: List[str], fetches: List[str]) -> Program:
    """PaddlePaddle's convention: a `feed` operator for each input, the last one first, and a `fetch`
    operator for each output."""
    block = program.global_block()
    facts: Any = {"persistable": True, "stop_gradient": None}
    block.create_var("feed", kind=dtypes.FEED_LIST, **facts)
    block.create_var("fetch", kind=dtypes.FETCH_LIST, **facts)
    for column, name in enumerate(feeds):
        block.prepend_op("feed", {"X": "feed"}, {"Out": name}, {"col": column, "op_callstack": []})
    for column, name in enumerate(fetches):
        block.append_op("fetch", {"X": name}, {"Out": "fetch"}, {"col": column, "op_callstack": []})
    for op in block.ops:
        if op.attr("op_device"):
            op.set_attr("op_device", "")
    return program
