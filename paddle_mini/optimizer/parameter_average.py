# ParameterAverage: any optimizer, with an average of the parameters it changes.
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from .._core import OpError, ProgramError, Scope
from ..averaging import Exponential, Scheme, Uniform, Window
from ..executor import Executor
from ..guards import default_startup_program, program_guard
from ..initializer import Constant
from ..place import Place
from ..program import Program
from ..roles import OPTIMIZE, device_guard, op_role_guard
from ..scope import global_scope
from ..variable import Parameter, Variable
from .optimizer import Optimizer, Pairs


class Applied:
    """What apply() returns: leaving its `with` block gives the raw values back."""

    def __init__(self, restore: Optional[Callable[[], None]]):
        self._restore = restore

    def __enter__(self) -> None:
        """The averages are bound already."""

    def __exit__(self, *error: Any) -> None:
        if self._restore is not None:
            self._restore()


class ParameterAverage:
    """Any optimizer, with an average of the parameters it changes.

    optimizer: what changes the parameters; its results are the same bits with and without this.
    scheme: Window(n), Uniform() or Exponential(decay); window_size=n is short for Window(n).
    every: steps from one averaging to the next; lengths stay in steps. start_step: steps that are
    left out at the beginning. parameters: which to average (variables or names); None: every one
    that the optimizer changes and whose ParamAttr does not say do_model_average=False.
    place: where the averages live and are computed; None: where training runs.

    The averages are float32 for float32 parameters and float64 for float64 ones. What is not a
    parameter, such as batch normalization's statistics, is not averaged.
    """

    def __init__(self, optimizer: Optimizer, scheme: Optional[Scheme] = None, window_size: Optional[int] = None,
                 every: int = 1, start_step: int = 0, parameters: Optional[Sequence[Union[str, Variable]]] = None,
                 place: Optional[Place] = None):
        if isinstance(optimizer, type):
            raise ProgramError(f"ParameterAverage takes an optimizer, not its class: {optimizer.__name__}(...)")
        if not callable(getattr(optimizer, "minimize", None)) or isinstance(optimizer, ParameterAverage):
            raise ProgramError(f"ParameterAverage takes an optimizer, not {type(optimizer).__name__}")
        if (scheme is None) == (window_size is None):
            raise ProgramError("ParameterAverage takes either a scheme or a window_size")
        self.scheme = Window(window_size) if scheme is None else scheme  # type: ignore[arg-type]
        if not isinstance(self.scheme, (Window, Uniform, Exponential)):
            raise ProgramError(f"scheme is {scheme!r}, it must be Window(n), Uniform() or Exponential(decay)")
        for name, number, low in (("every", every, 1), ("start_step", start_step, 0)):
            if isinstance(number, bool) or not isinstance(number, int) or number < low:
                raise ProgramError(f"{name} is {number!r}, it must be a whole number, at least {low}")
        self.optimizer = optimizer
        self.every = every
        self.start_step = start_step
        self.place = place
        self._wanted = None if parameters is None else [getattr(item, "name", item) for item in parameters]
        self._counters: Optional[Variable] = None
        self._averages: List[Tuple[Parameter, Variable, Optional[Variable]]] = []
        self._programs: Dict[bool, Program] = {}

    def minimize(self, loss: Variable, startup_program: Optional[Program] = None, parameter_list: Any = None,
                 no_grad_set: Any = None) -> Tuple[List[Any], Pairs]:
        """The optimizer's minimize, then the operators of averaging. Returns what the optimizer's
        minimize returns."""
        if self._counters is not None:
            raise ProgramError("this ParameterAverage has its program already; make another one")
        result = self.optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)
        startup = startup_program or default_startup_program()
        with program_guard(loss.block.program, startup), op_role_guard(OPTIMIZE), device_guard(self._device()):
            self._append([parameter for parameter, _ in result[1]], loss.block.program, startup)
        return result

    def apply(self, exe: Executor, scope: Optional[Scope] = None, need_restore: bool = True) -> Applied:
        """`with average.apply(exe):` inside, every averaged parameter has its average as value:
        evaluate or save there, and do not train.

        Afterwards the raw values are back bit for bit, also when the body raises; with
        need_restore=False, or without `with`, only after restore(). Before the first averaged step
        the raw values stay. Costs a copy of the parameters' memory while it lasts. OpError when
        averages are applied in this scope already.
        """
        if not isinstance(exe, Executor):
            raise ProgramError(f"apply takes an Executor, not {type(exe).__name__}")
        scope = global_scope() if scope is None else scope
        self._bind(exe, scope)
        return Applied((lambda: self.restore(exe, scope)) if need_restore else None)

    def restore(self, exe: Executor, scope: Optional[Scope] = None) -> None:
        """Gives the raw values back after apply(need_restore=False); does nothing when none are kept."""
        scope = global_scope() if scope is None else scope
        for parameter, _, _ in self._averages:
            aside = _aside(parameter)
            if aside in scope:
                scope.swap(parameter.name, aside)
                scope.erase(aside)

    def apply_program(self) -> Program:
        """A program that overwrites every averaged parameter with its average, for runs without
        Python. It declares all persistable variables of the training program, so it reads that
        program's parameter file."""
        return self._program(in_place=True)

    def _device(self) -> Optional[str]:
        return None if self.place is None else self.place.name

    def _append(self, changed: List[Parameter], main: Program, startup: Program) -> None:
        parameters = self._chosen(changed)
        block = main.global_block()
        self._counters = _state(main, startup, "average_counters", [4], "int64")
        name = main.new_name("average")
        window = isinstance(self.scheme, Window)
        weight, roll = f"{name}.weight", f"{name}.roll"
        block.append_op("average_weight", {"Counters": self._counters},
                        {"CountersOut": self._counters, "Weight": weight, "Roll": roll},
                        {**self.scheme.attrs(), "every": self.every, "start_step": self.start_step})
        for parameter in parameters:
            average = _state(main, startup, f"{parameter.name}_average", parameter.shape, parameter.dtype)
            inputs, outputs = {"Param": parameter, "Average": average, "Weight": weight}, {"AverageOut": average}
            previous = None
            if window:
                previous = _state(main, startup, f"{parameter.name}_previous_average", parameter.shape, parameter.dtype)
                inputs.update(Previous=previous, Roll=roll)
                outputs["PreviousOut"] = previous
            block.append_op("parameter_average", inputs, outputs)
            self._averages.append((parameter, average, previous))

    def _chosen(self, changed: List[Parameter]) -> List[Parameter]:
        by_name = {parameter.name: parameter for parameter in changed}
        if self._wanted is None:
            chosen = [parameter for parameter in changed if parameter.do_model_average]
        else:
            unknown = [name for name in self._wanted if name not in by_name]
            if unknown:
                raise ProgramError(f"'{unknown[0]}' is not a parameter that the optimizer changes; those are "
                                   f"{', '.join(by_name)}")
            chosen = [by_name[name] for name in self._wanted]
        if not chosen:
            raise ProgramError("there is no parameter to average")
        return sorted(chosen, key=lambda parameter: parameter.name)

    def _bind(self, exe: Executor, scope: Scope) -> None:
        program = self._program(in_place=False)
        applied = next((parameter.name for parameter, _, _ in self._averages if _aside(parameter) in scope), None)
        if applied is not None:
            raise OpError(f"averages are applied already: '{applied}' holds one; leave that apply(), or call "
                          "restore(), first")
        try:
            exe.run(program, scope=scope)
        except BaseException:
            for parameter, _, _ in self._averages:
                scope.erase(_aside(parameter))
            raise
        for parameter, _, _ in self._averages:
            scope.swap(parameter.name, _aside(parameter))

    def _program(self, in_place: bool) -> Program:
        """Computes the averages, into the parameters or beside them."""
        if self._counters is None:
            raise ProgramError("there is nothing averaged yet: call minimize() first")
        if in_place not in self._programs:
            program = Program()
            block = program.global_block()
            for variable in self._counters.block.program.global_block().vars.values():
                if variable.persistable:
                    block.create_var(variable.name, shape=variable.shape, dtype=variable.dtype, persistable=True)
            for parameter, average, previous in self._averages:
                out = parameter.name
                if not in_place:
                    out = _aside(parameter)
                    block.create_var(out, shape=parameter.shape, dtype=parameter.dtype, persistable=True)
                inputs = {"Param": parameter.name, "Average": average.name, "Counters": self._counters.name}
                if previous is not None:
                    inputs["Previous"] = previous.name
                with device_guard(self._device()):
                    block.append_op("average_value", inputs, {"Out": out})
            self._programs[in_place] = program
        return self._programs[in_place]


def _aside(parameter: Parameter) -> str:
    """Where the average waits to be bound, and then the raw value to come back."""
    return f"{parameter.name}@AVERAGE"


def _state(main: Program, startup: Program, key: str, shape: Any, dtype: str) -> Variable:
    facts = {"shape": shape, "dtype": dtype, "persistable": True, "stop_gradient": True}
    name = main.new_name(key)
    Constant(0.0)(startup.global_block().create_var(name, **facts), startup.global_block())
    return main.global_block().create_var(name, **facts)
