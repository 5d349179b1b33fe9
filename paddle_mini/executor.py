# Executor: runs programs; feeds in, fetches out.
from __future__ import annotations

import atexit
import inspect
import numbers
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, overload

import numpy as np

from . import _core
from ._core import Error, ProgramError, printable
from .dataflow import blocks_of
from .errors import listed, near, shown
from .feeds import converted, filled, numpy_dtype, short
from .guards import default_main_program
from .place import CPUPlace, Place
from .program import Program
from .renamed import answers_names, refuses_copies, unknown_argument
from .scope import LoDTensor, Scope, SelectedRows, global_scope
from .thread_state import state
from .threads import whole_threads
from .variable import Variable

atexit.register(_core.end_work)  # threads that run programs must not ask for the GIL after the interpreter's end

refuses_copies(
    _core.Executor, "make another one, Executor(place); a Predictor has clone(), and is loaded again in another process"
)

Fetches = Sequence[Variable | str] | Variable | str | None


def seed(number: int) -> None:
    """Seeds the random generators of all existing and future executors: the
    same programs then give the same bits again.

    number: an integer from 0 on, below 2**64; ProgramError for any other value.

    Example:
        >>> values = pm.layers.uniform_random([3])
        >>> pm.seed(7)
        >>> first, = pm.Executor().run(fetch_list=[values])
        >>> pm.seed(7)
        >>> second, = pm.Executor().run(fetch_list=[values])
        >>> bool((first == second).all())
        True
    """
    if not isinstance(number, numbers.Integral) or not 0 <= number < 2**64:
        raise ProgramError(f"seed {shown(number)} is not an integer in [0, 2**64)")
    seeds = state().seeds
    seeds.number = int(number)
    for executor in seeds.executors:
        executor._core.seed(seeds.number)


@partial(answers_names, fixed=("place", "allow_cpu_fallback", "max_loop_steps", "threads"))
class Executor:
    """Runs programs on a place. A program is checked, planned and given its memory at its first run
    with these feeds and fetches; later runs reuse that.

    files: whether the operators save, save_combine, load and load_combine may write and read the files
    that a program names. Leave it off for programs of others. allow_cpu_fallback: operators without a kernel on
    the place run on the CPU, and a line on standard error names them; otherwise they are a DeviceError.
    max_loop_steps: how many steps each loop of a program may take in one run; one more is an OpError that names the loop, and the
    scope stays as it was. None: no bound. Ctrl-C ends a loop either way. threads: at most this many threads run one operator
    on the CPU; None: num_threads(). Results have the same bits for any number of threads.

    On a device run returns when the values of fetch_list are there. Other work of the program, such as averages on the
    CPU, may continue asynchronously; scope.get and all other accesses to the scope wait for it.
    Example:
        >>> y = pm.layers.fc(pm.layers.data("x", [-1, 8]), 4)
        >>> exe = pm.Executor(pm.CPUPlace())
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(feed={"x": np.ones((3, 8), "float32")}, fetch_list=[y])[0].shape
        (3, 4)
    """

    def __init__(
        self,
        place: Place | None = None,
        files: bool = False,
        allow_cpu_fallback: bool = False,
        max_loop_steps: int | None = None,
        threads: int | None = None,
    ):
        self.place = CPUPlace() if place is None else place
        if not isinstance(self.place, Place):
            raise ProgramError(f"Executor({shown(place)}): give CPUPlace() or CUDAPlace(0)")
        self.allow_cpu_fallback = bool(allow_cpu_fallback)
        self.max_loop_steps = _loop_bound(max_loop_steps)
        self.threads = None if threads is None else whole_threads(threads)
        self._core = self._new_core(state().seeds.number, bool(files), self.allow_cpu_fallback)
        state().seeds.executors.add(self)

    def _new_core(self, seed: int | None, files: bool, cpu_fallback: bool) -> Any:
        return _core.Executor(
            self.place.name, seed, files, cpu_fallback, max_loop_steps=self.max_loop_steps or 0, threads=self.threads or 0
        )

    @overload
    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Fetches = None,
        scope: Scope | None = None,
        return_numpy: Literal[True] = True,
    ) -> list[np.ndarray[Any, Any]]: ...
    @overload
    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Fetches = None,
        scope: Scope | None = None,
        return_numpy: bool = True,
    ) -> list[Any]: ...
    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Fetches = None,
        scope: Scope | None = None,
        return_numpy: bool = True,
        **others: Any,
    ) -> list[Any]:
        """Runs every operator of a program once.

        program: None: the default main program. feed: values by name. Arrays, of other libraries too (`__dlpack__`,
        `__array__`), must have the dtype of their variable, and are read where they are if their elements are in C order;
        bfloat16 may also be given as its bits, in uint16. Python numbers and lists are converted. fetch_list: variables
        or names whose values come back, in order, as NumPy arrays of their own memory (selected rows as SelectedRows, a
        tensor array as a list: type checkers take both for arrays); one alone stands for a list of one.
        return_numpy: False: sequences are LoDTensors. scope: where persistable variables live; None: the global scope.
        Raises ShapeError for a value that does not fit, OpError when an operator refuses its data,
        ProgramError when the program or a name is wrong; persistables then are as before the run. What it drew from the
        random generator is not drawn again: to repeat the run with the same bits, restore the random_state() from before it.
        """
        if others:  # a wrapper, as of other functions (takes_other_names), would take time in each run
            raise unknown_argument("run", next(iter(others)), _RUN_ARGUMENTS)
        if program is None:
            program = default_main_program()
        if feed is None:
            feed = {}
        try:
            fetches = fetch_list if type(fetch_list) is list else as_fetches(fetch_list)
            call = program._calls.get((*feed, None, *fetches))
        except (AttributeError, TypeError):  # _new_call raises the precise error
            call = None
        try:
            if call is None:
                call = _new_call(program, feed, fetch_list)
            signature, names, wanted = call
            values = tuple(feed.values())
            for value, dtype in zip(values, wanted):
                if type(value) is not np.ndarray or value.dtype is not dtype:
                    values = tuple(map(converted, names, values, wanted))
                    break
            if scope is None:
                scope = global_scope()
            if program.schedules:
                _write_rates(program, scope)
            results = self._core.run(signature, scope, values)
        except Error as error:  # the message is complete: frames below this one would hide the user's frame
            raise error.with_traceback(None) from error.__cause__
        except (AttributeError, TypeError):
            _require_scope(scope)
            _new_call(program, feed, fetch_list)
            raise
        for i, value in enumerate(results):
            if type(value) is not np.ndarray:
                results[i] = _fetched(value, return_numpy)
        return results

    def random_state(self) -> str:
        """The state of this executor's random generator, as text: operators whose seed is 0 draw from it."""
        return self._core.random_state()

    def set_random_state(self, state: str) -> None:
        """Restores a random_state(), with the same bits; OpError for any other text."""
        self._core.set_random_state(state)

    def plan_text(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Fetches = None,
        scope: Scope | None = None,
        stage: str = "plan",
    ) -> str:
        """The plan of run with the same arguments, as a table; needs the values that a run needs.

        stage: whose table: "plan", the steps with their memory; "infer", variables with dtype and shape, and operators; or
        a pass between the two, such as "fuse" (docs/design.md). ProgramError for another name; it lists all names.
        """
        program = default_main_program() if program is None else program
        signature, names, wanted = _new_call(program, feed or {}, fetch_list)
        values = tuple(map(converted, names, (feed or {}).values(), wanted))
        _require_scope(scope)
        return self._core.plan_text(signature, scope if scope is not None else global_scope(), values, stage)


_RUN_ARGUMENTS = [one.name for one in inspect.signature(Executor.run).parameters.values() if one.kind is not one.VAR_KEYWORD]
Call = tuple[_core.Signature, tuple[str, ...], tuple[Any, ...]]  # names and element types of the feeds


def _new_call(program: Program, feed: Mapping[str, Any], fetch_list: Any) -> Call:
    """Validates names and caches what the next call with the same names can reuse."""
    if not isinstance(program, Program):
        raise ProgramError(f"run takes a Program, not {type(program).__name__}")
    if not isinstance(feed, Mapping):
        raise ProgramError(f"feed is of type {type(feed).__name__}, it must be a dict of values by name")
    fetch_list = as_fetches(fetch_list)
    variables = program.global_block().vars
    for name in feed:
        if isinstance(name, Variable):
            raise ProgramError(f"feed has a variable as key; keys are names: use .name, which is '{printable(name.name)}'")
        if name not in variables:
            data = [var.name for var in variables.values() if var.need_check_feed]
            hint = near(str(name), data or variables)
            raise ProgramError(f"feed '{printable(name)}' is not a variable of the program{hint or _listed(data)}")
        if not variables[name].need_check_feed and not variables[name].persistable:
            _require_effect(program, name)
    fetches = tuple(_fetch_name(item, variables) for item in fetch_list)
    wanted = tuple(numpy_dtype(variables[name].dtype) for name in feed)
    call = _core.Signature(program.handle(), tuple(feed), fetches), tuple(feed), wanted
    key = (*feed, None, *fetch_list)
    program._calls[key] = call
    return call


def _require_effect(program: Program, name: str) -> None:
    """ProgramError if an operator overwrites what is fed before any operator reads it."""
    touching = (op for op in program.global_block().ops if op.type != "feed" and name in (*op.input_names, *op.output_names))
    first = next(touching, None)
    if first is not None and name not in first.input_names and not blocks_of(first):
        raise ProgramError(
            f"feed '{printable(name)}' would be overwritten by {printable(first.type)}, which computes it; "
            "Program.prune(feeds, fetches) leaves that operator out"
        )


def as_fetches(fetch_list: Any) -> Any:
    """A list or tuple of what is to be fetched; ProgramError for what Executor.run() does not take."""
    if fetch_list is None:
        return ()
    if isinstance(fetch_list, (Variable, str)):
        return (fetch_list,)
    if not isinstance(fetch_list, (list, tuple)):
        raise ProgramError(f"fetch_list is of type {type(fetch_list).__name__}, it must be a list of variables or names")
    return fetch_list


def _loop_bound(max_loop_steps: int | None) -> int | None:
    if max_loop_steps is None:
        return None
    whole = isinstance(max_loop_steps, numbers.Integral) and not isinstance(max_loop_steps, bool)
    if not whole or not 0 < max_loop_steps < 2**63:
        raise ProgramError(f"max_loop_steps is {short(max_loop_steps)}, it must be an integer from 1 on, or None")
    return int(max_loop_steps)


def _write_rates(program: Program, scope: Any) -> None:
    _require_scope(scope)
    for name, rate in program.schedules.items():
        var = program.global_block().vars[name]
        scope.set(name, filled(var.shape, rate(), var.dtype))


def _require_scope(scope: Any) -> None:
    if scope is not None and not isinstance(scope, Scope):
        raise ProgramError(f"scope is of type {type(scope).__name__}, it must be a Scope") from None


def _fetch_name(item: Any, variables: dict[str, Variable]) -> str:
    name = item.name if isinstance(item, Variable) else item
    if not isinstance(name, str):
        raise ProgramError(f"fetch_list holds {shown(item)}, which is neither a variable nor a name")
    if name not in variables:
        raise ProgramError(f"fetch '{printable(name)}' is not a variable of the program{near(name, variables)}")
    return name


def _listed(data: list[str]) -> str:
    return f"; its data are {listed(data)}" if data else "; it takes no data"


def _fetched(value: Any, return_numpy: bool) -> Any:
    if isinstance(value, list):
        return [_fetched(element, return_numpy) for element in value]
    if not isinstance(value, tuple):
        return value
    if len(value) == 3:
        return SelectedRows(*value)
    return value[0] if return_numpy else LoDTensor(*value)
