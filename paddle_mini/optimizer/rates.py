# Rates: the learning rate of an optimizer, as a number, a variable or a schedule.
from __future__ import annotations

import math
import numbers
from typing import Any

from .. import dtypes
from .._core import OpError, ProgramError, Scope, printable
from ..errors import shown
from ..feeds import filled, number_of
from ..guards import default_main_program, default_startup_program
from ..initializer import Constant
from ..lr.scheduler import LRScheduler
from ..roles import LR_SCHEDULE, OPTIMIZE, op_role_guard
from ..scope import scope_or_global
from ..transaction import before_setting
from ..variable import Parameter, Variable
from .config import overridden_method

Rate = float | Variable | LRScheduler


class Rates:
    """The part of an Optimizer that is about its learning rate."""

    def __init__(self, learning_rate: Rate):
        self._rates: dict[tuple[int, str], Variable] = {}
        self.learning_rate = learning_rate

    @property
    def learning_rate(self) -> Rate:
        """The rate that the optimizer was made with; it may be set before minimize()."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, rate: Rate) -> None:
        if self._rates:
            raise ProgramError("the learning rate is in the program already: set_lr(rate) sets that of the steps from now on")
        is_number = not isinstance(rate, (Variable, LRScheduler))
        self._learning_rate: Rate = finite("learning_rate", rate, low=0.0) if is_number else rate

    def get_lr(self, scope: Scope | None = None) -> float:
        """The current learning rate: in this scope, or the global one, where a startup program has set it."""
        rate, computed = self.learning_rate, self._computed()
        if computed is not None:
            raise ProgramError(f"the program computes the learning rate: fetch '{printable(computed.name)}'")
        if isinstance(rate, LRScheduler):
            return rate()
        assert not isinstance(rate, Variable)
        where = scope_or_global(scope)
        made = next((var for var in self._rates.values() if var.name in where), None)
        return rate if made is None else number_of(where.get(made.name))

    def set_lr(self, value: float, scope: Scope | None = None) -> None:
        """Sets the learning rate of all steps from now on, in this scope or the global one: after the startup program has
        run, which sets the rate that the optimizer was made with. It is saved and restored as other variables are.

        ProgramError for a rate that the program or an LRScheduler computes, OpError in a scope without the optimizer's
        variables.
        """
        rate = finite("set_lr", value, low=0.0)
        if not self.is_constant:
            computed = self._computed()
            kind = type(self.learning_rate if computed is None else computed).__name__
            raise ProgramError(f"set_lr: the learning rate is {kind}, which computes it")
        where = scope_or_global(scope)
        for var in self._rates.values():
            if var.name not in where:
                raise OpError(f"set_lr: '{printable(var.name)}' has no value in the scope; run the startup program first")
        for var in self._rates.values():
            where.set(var.name, filled(var.shape, rate, var.dtype))
        if not self._rates:
            self.learning_rate = rate

    @property
    def is_constant(self) -> bool:
        """Whether set_lr() sets it: neither the program nor a schedule computes it."""
        return self._computed() is None and not isinstance(self.learning_rate, LRScheduler)

    def _computed(self) -> Variable | None:
        """The variable in which the program computes the rate, which does not outlive a run; None: it does not."""
        if isinstance(self.learning_rate, Variable):
            return self.learning_rate
        return next((var for var in self._rates.values() if not var.persistable), None)

    def rate_values(self) -> dict[str, Any]:
        """The fields of the learning rate."""
        rate = self.learning_rate
        if isinstance(rate, LRScheduler):
            return overridden_method(rate, "config_values", "get_lr", LRScheduler)()
        if isinstance(rate, Variable):
            raise ProgramError(
                f"{type(self).__name__}: the program computes the learning rate '{printable(rate.name)}', which an "
                "object of the C library can't; give a number or an LRScheduler"
            )
        return {"lr_policy": "Const", "const_lr": {"learning_rate": rate}}

    def rate_of(self, parameter: Parameter) -> Variable:
        """The learning rate for a parameter: the optimizer's, times the parameter's own factor."""
        rate = self.rate_of_program(parameter.dtype)
        if rate.dtype != parameter.dtype:
            rate = _cast(rate, parameter.dtype)
        if parameter.learning_rate == 1.0:
            return rate
        program = default_main_program()
        name = program.new_name("tmp")
        with op_role_guard(OPTIMIZE | LR_SCHEDULE):
            program.current_block().append_op("scale", {"X": rate}, {"Out": name}, {"scale": parameter.learning_rate})
        return program.current_block().var(name)

    def rate_of_program(self, dtype: str) -> Variable:
        """The optimizer's learning rate, for parameters of this dtype."""
        rate = self.learning_rate
        if isinstance(rate, Variable):
            return rate
        main = default_main_program()
        made = self._rates.get((id(main), dtype))
        if made is None or made.block.program is not main:
            made = new_state("learning_rate", [], dtype, rate() if isinstance(rate, LRScheduler) else rate)
            if isinstance(rate, LRScheduler):
                before_setting(main.schedules, made.name)
                main.schedules[made.name] = rate
            before_setting(self._rates, (id(main), dtype))
            self._rates[id(main), dtype] = made
        return made


def _cast(rate: Variable, dtype: str) -> Variable:
    """The rate for parameters of another dtype: schedules in the program are float32, also for float64 networks."""
    block = default_main_program().current_block()
    out = block.create_var(block.program.new_name(f"{rate.name}.cast"), dtype=dtype, shape=rate.shape, stop_gradient=True)
    with op_role_guard(OPTIMIZE | LR_SCHEDULE):
        block.append_op("cast", {"X": rate}, {"Out": out}, {"in_dtype": rate.dtype, "out_dtype": dtype})
    return out


def finite(what: str, value: Any, low: float = -math.inf, below: float = math.inf) -> float:
    """The number as a float; ProgramError if it is not a number, not finite, or not in [low, below)."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value) and low <= float(value) < below:
        return float(value)
    limits = f", at least {low:g}" * (low > -math.inf) + f" and below {below:g}" * (below < math.inf)
    raise ProgramError(f"{what} is {shown(value)}, it must be a finite number{limits}")


def new_state(key: str, shape: Any, dtype: str, value: float) -> Variable:
    if dtype not in dtypes.FLOAT_NAMES:
        raise ProgramError(f"'{key}' would be {dtype}; optimizers change floats")
    main, startup = default_main_program(), default_startup_program()
    name = main.new_name(key)
    facts = {"shape": shape, "dtype": dtype, "persistable": True, "stop_gradient": True}
    Constant(value)(startup.global_block().create_var(name, **facts), startup.global_block())
    return main.global_block().create_var(name, **facts)
