# RunningAverage: one averaging scheme in one program, and the operators that update and read its averages.
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .. import roles
from .._core import ProgramError, printable
from ..errors import shown
from ..guards import default_main_program
from ..variable import Variable
from .averaged_parameter import AveragedParameter, average_dtype, create_average, read_as, state
from .scheme import Scheme
from .schemes import BiasCorrected

COUNTERS, STATE = 5, 7  # sizes of operator average_weight's Counters and State

AddOp = Callable[..., Any]


@dataclass
class RunningAverage:
    """One scheme with its counters. `append_...` add operators to a program with `add`, which is append_op or places
    them elsewhere; variables that are kept between runs are persistable ones of the global block, which the startup
    program begins."""

    scheme: Scheme
    every: int
    start_step: int
    check_finite: bool
    members: list[AveragedParameter] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.every = self.scheme.every_of(self.every)
        self.start_step = max(self.start_step, self.scheme.start)

    def begin(self) -> None:
        main = default_main_program()
        self.counters = state(main.new_name("average_counters"), [COUNTERS], "int64")
        self.state = state(main.new_name("average_state"), [STATE], "float64")
        name = main.new_name("average")
        self._weight, self._roll = f"{name}.weight", f"{name}.roll"
        self._next = {"CountersOut": f"{name}.counters", "StateOut": f"{name}.state"}
        self._first: str | None = None

    def check(self, parameter: Variable, sparse: bool) -> None:
        """ProgramError if the scheme does not support a parameter; creates nothing."""
        needs_its_dtype = self.scheme.latest is not None or isinstance(self.scheme, BiasCorrected)
        read = read_as(parameter)
        if needs_its_dtype and average_dtype(read) != read.dtype:
            raise ProgramError(
                f"{shown(self.scheme)}: '{printable(read.name)}' is {read.dtype}, which only Uniform(), "
                "Exponential(...), Window(...) and others of one weight a step average; leave it out "
                "with parameters=[...]"
            )
        if sparse and not self.scheme.lazy:
            raise ProgramError(
                f"{shown(self.scheme)} keeps whole tables, but '{printable(parameter.name)}' has a sparse gradient; "
                "average it with Uniform(), Exponential(...) or Window(...), or leave it out with "
                "parameters=[...]"
            )

    def add(self, parameter: Variable, lazily: bool) -> None:
        """Creates the state of a parameter's average, initialised with the parameter's value."""
        self.members.append(create_average(self.scheme, parameter, lazily))

    def append_rows(self, before: Callable[[str], AddOp], gradients: dict[str, Variable]) -> None:
        """Before an optimizer changes rows of tables: brings their averages up to date. before(name): adds an operator
        right before the one that changes this table, while its rows are in the caches. Averages on a device of their
        own are given the rows that change, not the table."""
        for member in self.members:
            if member.stamps is None:
                continue
            gradient = gradients[member.parameter.name]
            values: Variable | str = member.parameter
            if roles.device():
                values = default_main_program().new_name(f"{member.parameter.name}_rows")
                with roles.device_guard(None):
                    before(member.parameter.name)("select_rows", {"X": member.parameter, "Rows": gradient}, {"Out": values})
            inputs = {
                "Param": values,
                "Rows": gradient,
                "Average": member.average,
                "Counters": self.counters,
                "State": self.state,
                "RowStamps": member.stamps,
            }
            outputs = {"AverageOut": member.average, "RowStampsOut": member.stamps}
            if member.block is not None:
                inputs["Block"] = outputs["BlockOut"] = member.block
            if member.previous is not None:
                inputs["Previous"] = outputs["PreviousOut"] = member.previous
            before(member.parameter.name)("average_rows", inputs, outputs, {"check_finite": self.check_finite})

    def append_weight(
        self, add: AddOp, updated: Variable | None = None, finite: Variable | None = None, rate: Variable | None = None
    ) -> None:
        """Once a step. updated, finite: whether the parameters changed and are finite. rate: the learning rate."""
        given = {"Updated": updated, "Finite": finite, "LearningRate": rate}
        given = {port: variable for port, variable in given.items() if variable is not None}
        self._inputs = {"Counters": self.counters, "State": self.state, **given}
        add("average_weight", self._inputs, {**self._next, "Weight": self._weight, "Roll": self._roll}, self._attrs())
        if isinstance(self.scheme, BiasCorrected):
            self._first = self.append_second_weight(add, "first", {"scheme": "first"})

    def append_second_weight(self, add: AddOp, key: str, attrs: dict[str, Any]) -> str:
        """Another weight for the same steps, without counters. Returns its name."""
        unused = {port: f"{name}.{key}" for port, name in {**self._next, "Roll": self._roll}.items()}
        weight = f"{self._weight}.{key}"
        add("average_weight", self._inputs, {**unused, "Weight": weight}, {**self._attrs(), **attrs})
        return weight

    def _attrs(self) -> dict[str, Any]:
        return {**self.scheme.attrs(self.every), "every": self.every, "start_step": self.start_step}

    def config_values(self) -> dict[str, Any]:
        """The fields of AveragingConfig (proto/optimizer.proto), which are the attributes of average_weight."""
        scheme = self.scheme
        if scheme.latest is not None or not scheme.is_mean:
            raise ProgramError(
                f"{shown(scheme)} is more than one weight an update, all that the C library takes; write "
                "Uniform(), Exponential(...), Power(...), Polynomial(...), Tail(...) or Window(...)"
            )
        values = self._attrs()
        if values.get("warmup") == "power":
            values["warmup"] = "warmup_by_power"  # a scheme has this name; names within a message must differ
        return values

    def append_averages(self, add: AddOp) -> None:
        """After the parameters have changed. The step counts when all of them are averaged: if one is refused, the
        counters stay where they were."""
        for member in self.members:
            if member.stamps is None:
                self._append_average(add, member)
        add("assign", {"X": self._next["CountersOut"]}, {"Out": self.counters})
        add("assign", {"X": self._next["StateOut"]}, {"Out": self.state})

    def _append_average(self, add: AddOp, member: AveragedParameter) -> None:
        param, average = member.parameter if member.source is None else member.source, member.average
        attrs = {"check_finite": self.check_finite}
        if self.scheme.latest is not None:
            add(
                "parameter_ring",
                {"Param": param, "Ring": average, "Counters": self._next["CountersOut"], "Weight": self._weight},
                {"RingOut": average},
                attrs,
            )
            return
        inputs: dict[str, Any] = {"Param": param, "Average": average, "Weight": self._weight}
        outputs: dict[str, Any] = {"AverageOut": average}
        if member.previous is not None:
            inputs.update(Previous=member.previous, Roll=self._roll)
            outputs["PreviousOut"] = member.previous
        if member.block is not None:
            inputs["Block"] = outputs["BlockOut"] = member.block
            inputs["Sums"] = outputs["SumsOut"] = member.sums
        if member.residue is not None:
            inputs["Residue"] = outputs["ResidueOut"] = member.residue
        add("parameter_average", inputs, outputs, attrs)
        if member.initial is not None:
            add(
                "parameter_average",
                {"Param": param, "Average": member.initial, "Weight": self._first},
                {"AverageOut": member.initial},
                attrs,
            )

    def append_value(self, add: AddOp, member: AveragedParameter, out: str) -> None:
        """Writes the average of a parameter to `out`. Uses only names: `add` may place operators anywhere."""
        inputs = {"Param": member.parameter.name, "Counters": self.counters.name}
        if self.scheme.latest is not None:
            add("ring_mean", {**inputs, "Ring": member.average.name}, {"Out": out})
            return
        given = {
            "Average": member.average,
            "Block": member.block,
            "Sums": member.sums,
            "Previous": member.previous,
            "RowStamps": member.stamps,
            "State": None if member.stamps is None else self.state,
        }
        value = {**inputs, **{port: variable.name for port, variable in given.items() if variable is not None}}
        mean = out if member.initial is None else f"{out}.mean"
        add("average_value", value, {"Out": mean})
        if member.initial is not None:
            assert isinstance(self.scheme, BiasCorrected)
            add(
                "bias_corrected_average",
                {**inputs, "Average": mean, "Initial": member.initial.name},
                {"Out": out},
                self.scheme.correction(self.every),
            )


class _Beginning(Scheme):
    """The initial parameters, which are kept."""

    def attrs(self, every: int) -> dict[str, Any]:
        return {"scheme": "first"}


def append_beginning(add: AddOp, members: list[AveragedParameter]) -> None:
    """Before an optimizer: in the first run averages become what their parameters are, which may have been loaded after
    the startup program ran."""
    begin = RunningAverage(_Beginning(), 1, 0, check_finite=False, members=members)
    begin.begin()
    begin.append_weight(add)
    begin.append_averages(add)
