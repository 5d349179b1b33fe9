# AveragedParameter: the variables of one parameter's average.
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import dtypes
from ..guards import default_main_program, default_startup_program
from ..initializer import Constant
from ..scope import raw_name
from ..variable import Parameter, Variable
from .scheme import Scheme
from .schemes import BiasCorrected

SUMS = 4  # size of operator parameter_average's Sums


@dataclass
class AveragedParameter:
    """A parameter, or another variable, with the variables of its average."""

    parameter: Variable
    average: Variable  # for Latest, the ring of parameters
    previous: Variable | None = None
    residue: Variable | None = None
    block: Variable | None = None  # the sum of the newest steps; for rows the rounding error of the average
    sums: Variable | None = None  # the sums of the weights in `block`
    initial: Variable | None = None
    stamps: Variable | None = None  # for the rows of a table that is averaged lazily
    source: Variable | None = None  # the averaged variable, if it is not the parameter itself

    @property
    def pending(self) -> str:
        """The variable in which the average is computed before it is swapped in."""
        return f"{self.parameter.name}@AVERAGE"

    @property
    def raw(self) -> str:
        """The variable that holds the raw value while the average is swapped in."""
        return raw_name(self.parameter.name)

    @property
    def exchange(self) -> tuple[str, str, str]:
        """The swap for Scope: name, its substitute, the variable that holds its own value meanwhile."""
        return self.parameter.name, self.pending, self.raw

    def kept(self) -> list[Variable]:
        """All variables of the average."""
        parts = (self.average, self.previous, self.residue, self.block, self.sums, self.initial, self.stamps)
        return [one for one in parts if one is not None]

    @property
    def is_read_as_it_is(self) -> bool:
        """Whether the average is one variable like the parameter, so that its name can replace the parameter's."""
        return (
            self.previous is None
            and self.block is None
            and self.initial is None
            and self.stamps is None
            and self.average.shape == self.parameter.shape
            and self.average.dtype == self.parameter.dtype
        )


def create_average(scheme: Scheme, parameter: Variable, lazily: bool) -> AveragedParameter:
    """Creates the variables of an average, initialised with the parameter's value. lazily: by rows."""
    dtype, main = average_dtype(parameter), default_main_program()

    def kept(key: str) -> Variable:
        return like(parameter, key, dtype)

    def zeros(key: str) -> Variable:
        return state(main.new_name(f"{parameter.name}_{key}"), parameter.shape, dtype)

    # The average of a master takes the place of its parameter of 16 bits.
    read = read_as(parameter)
    member = AveragedParameter(read, like(parameter, "average", dtype, scheme.latest))
    member.source = None if read is parameter else parameter
    if scheme.generations == 2:
        member.previous = kept("previous_average")
    if scheme.compensated and not lazily:
        member.residue = zeros("residue")
    elif scheme.latest is None and not scheme.plain:
        member.block = zeros("average_block")
        member.sums = None if lazily else state(main.new_name("average_sums"), [SUMS], "float64")
    if isinstance(scheme, BiasCorrected):
        member.initial = kept("initial")
    if lazily:
        member.stamps = state(main.new_name(f"{parameter.name}_row_stamps"), parameter.shape[:1], "float64")
    return member


def read_as(parameter: Variable) -> Variable:
    """The variable that operators read: for a master its parameter of 16 bits."""
    rounded = parameter.rounded if isinstance(parameter, Parameter) else None
    return parameter if rounded is None else rounded


def average_dtype(parameter: Variable) -> str:
    """The dtype of sums: float32 for 16-bit floats."""
    return "float32" if parameter.dtype in ("float16", "bfloat16") else parameter.dtype


def state(name: str, shape: Any, dtype: str) -> Variable:
    """A persistable variable, initialised with zeros."""
    facts = {"shape": shape, "dtype": dtype, "persistable": True, "stop_gradient": True}
    startup = default_startup_program().global_block()
    Constant(0.0)(startup.create_var(name, **facts), startup)
    return default_main_program().global_block().create_var(name, **facts)


def like(parameter: Variable, key: str, dtype: str, copies: int | None = None) -> Variable:
    """A persistable variable, initialised like the parameter, or with so many copies of it."""
    main, startup = default_main_program(), default_startup_program().global_block()
    name = main.new_name(f"{parameter.name}_{key}")
    shape = list(parameter.shape) if copies is None else [copies, *parameter.shape]
    facts = {"shape": shape, "dtype": dtype, "persistable": True, "stop_gradient": True}
    begun = startup.create_var(name, **facts)
    if copies is not None or not startup.has_var(parameter.name):
        Constant(0.0)(begun, startup)
    elif dtype == parameter.dtype:
        startup.append_op("assign", {"X": parameter.name}, {"Out": name})
    else:
        startup.append_op(
            "cast",
            {"X": parameter.name},
            {"Out": name},
            {"in_dtype": dtypes.NUMBERS[parameter.dtype], "out_dtype": dtypes.NUMBERS[dtype]},
        )
    return main.global_block().create_var(name, **facts)
