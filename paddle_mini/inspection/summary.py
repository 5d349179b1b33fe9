# A table of a program's layers: shapes, parameters, memory and floating-point operations.
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from .. import callsite, roles
from .._core import ProgramError, printable
from ..errors import shown
from ..guards import default_main_program
from ..operator import Operator
from ..variable import Parameter
from .costs import Value, flops
from .shapes import SizedProgram
from .tables import counted, html_table, scaled, text_table

_LAYER = re.compile(r"[^.@]+")
_AVERAGING = (
    "parameter_average",
    "average_accumulates",
    "average_rows",
    "parameter_ring",
    "bias_corrected_average",
    "average_weight",
)
_HEADER = ("layer", "operators", "line", "device", "output", "parameters", "bytes", "activations", "flops", "averages")
_LEFT = 5


@dataclass(frozen=True)
class SummaryRow:
    """One layer: consecutive operators of one line whose outputs have one prefix; or one operator."""

    layer: str
    operators: tuple[str, ...]
    line: str
    """ "train.py:12", or the operator's name scope, or ""."""
    device: str
    """op_device; "": the place of the executor."""
    output_shape: tuple[int, ...]
    """Shape of the last operator's main output; -1 where a dimension depends on data."""
    parameters: int
    """Elements of the parameters that no earlier row has."""
    parameter_bytes: int
    activation_bytes: int | None
    """Bytes of all outputs that are not persistable; the plan reuses memory, so a run needs less."""
    flops: int | None
    """Floating-point operations; None if they are not known."""
    average_bytes: int
    """Bytes of the averages of its parameters."""


@dataclass
class Summary:
    """Result of pm.summary: print it, show it in a notebook, or read `rows` and the totals."""

    batch: int
    rows: list[SummaryRow] = field(default_factory=list)
    trainable: int = 0
    frozen: int = 0
    parameter_bytes: int = 0
    activation_bytes: int = 0
    flops: int = 0
    """Sum over the forward operators whose cost is known."""
    backward_flops: int = 0
    optimizer_flops: int = 0
    unknown_costs: int = 0
    """Number of operators without a known cost."""
    optimizer_bytes: int = 0
    average_bytes: int = 0
    plan: str | None = None
    """The first line of the plan of a run, with its memory; None without plan=True."""

    def notes(self) -> list[str]:
        """The lines below the table."""
        lines = [
            f"parameters: {counted(self.trainable)} trainable, {counted(self.frozen)} frozen, "
            f"{scaled(self.parameter_bytes, 'B')}",
            f"state: optimizer {scaled(self.optimizer_bytes, 'B')}, averages {scaled(self.average_bytes, 'B')}",
            f"batch {self.batch}: activations {scaled(self.activation_bytes, 'B')}; flops forward {scaled(self.flops)}, "
            f"backward {scaled(self.backward_flops)}, optimizer {scaled(self.optimizer_flops)}",
        ]
        if self.unknown_costs:
            lines.append(f"{self.unknown_costs} operators without a known cost are not in the sums")
        return lines + ([f"plan: {self.plan}"] if self.plan is not None else [])

    def _cells(self) -> list[list[str]]:
        return [
            [
                row.layer,
                " + ".join(row.operators),
                row.line,
                row.device,
                "x".join("?" if dim < 0 else str(dim) for dim in row.output_shape) or "scalar",
                counted(row.parameters),
                scaled(row.parameter_bytes, "B"),
                scaled(row.activation_bytes, "B"),
                scaled(row.flops),
                scaled(row.average_bytes, "B"),
            ]
            for row in self.rows
        ]

    def __str__(self) -> str:
        return "\n".join([text_table(_HEADER, self._cells(), _LEFT), "", *self.notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(_HEADER, self._cells(), _LEFT, self.notes())


def summary(program: Any = None, batch: int = 1, by: str = "layer", plan: bool = False) -> Summary:
    """A table of the forward operators of a program, and the totals of its backward and optimizer operators.

    program: None: the default main program. batch: replaces -1 as the first dimension of data. by: "layer", a row for the
    consecutive operators of one line that belong to one layer, or "operator". plan: plans a run of this batch on the CPU as
    well, which takes the memory of the program's variables, for the note about its arena.
    Returns an object that print() and notebooks show as the table.
    Example:
        >>> h = pm.layers.fc(pm.layers.data("x", [-1, 64]), 32, act="relu")
        >>> str(pm.summary(batch=8)).splitlines()[-1]  # print(pm.summary(batch=8)) shows the table
        'batch 8: activations 3.07 kB; flops forward 33.3 k, backward 0, optimizer 0'
    """
    program = default_main_program() if program is None else program
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise ProgramError(f"summary(batch={shown(batch)}): the batch is an integer from 1 on")
    if by not in ("layer", "operator"):
        raise ProgramError(f"summary(by={shown(by)}): there are 'layer' and 'operator'")
    made = _Maker(program, batch)
    for ops in made.layers(by):
        made.add_row(ops)
    made.add_totals()
    if plan:
        made.result.plan = _plan_line(program, made.sized)
    return made.result


class _Maker:
    def __init__(self, program: Any, batch: int):
        self.program, self.result = program, Summary(batch)
        self.sized = SizedProgram(program, batch)
        self.counted: set[str] = set()
        self.averages = _averages(program)
        self.parameters = {var.name: var for var in program.all_parameters()}

    def layers(self, by: str) -> Iterator[list[Operator]]:
        for block in self.program.blocks:
            ops = [op for op in block.ops if _role(op) == "forward"]
            key: Callable[[Operator], Any] = id if by == "operator" else _layer_key
            for _, group in groupby(ops, key):
                yield list(group)

    def add_row(self, ops: list[Operator]) -> None:
        new = [self.parameters[name] for op in ops for name in op.input_names if self._is_new(name)]
        costs = [flops(self.sized.call(op)) for op in ops]
        sizes = [self._size(op, name) for op in ops for name in op.output_names if self._is_activation(op, name)]
        last = next((name for op in reversed(ops) for name in _results(op)), "")
        shape = self.sized.value(ops[-1], last)
        self.result.rows.append(
            SummaryRow(
                layer=_name(last),
                operators=tuple(op.type for op in ops),
                line=_line(ops[0]),
                device=printable(ops[0].attr("op_device") or ""),
                output_shape=shape.shape if shape else (),
                parameters=sum(map(_elements, new)),
                parameter_bytes=sum(map(_bytes, new)),
                activation_bytes=_sum_if_known(sizes),
                flops=_sum_if_known(costs),
                average_bytes=sum(_bytes(var) for one in new for var in self.averages.get(one.name, ())),
            )
        )
        self.result.activation_bytes += sum(size for size in sizes if size is not None)

    def _is_new(self, name: str) -> bool:
        if name not in self.parameters or name in self.counted:
            return False
        self.counted.add(name)
        return True

    def _is_activation(self, op: Operator, name: str) -> bool:
        var = op.block.find_var(name)
        return var is not None and not var.persistable

    def _size(self, op: Operator, name: str) -> int | None:
        value = self.sized.value(op, name)
        return value.bytes if value else 0

    def add_totals(self) -> None:
        totals = {"forward": 0, "backward": 0, "optimizer": 0}
        for block in self.program.blocks:
            for op in block.ops:
                cost = flops(self.sized.call(op))
                self.result.unknown_costs += cost is None
                totals[_role(op)] += cost or 0
        self.result.flops, self.result.backward_flops, self.result.optimizer_flops = totals.values()
        for var in self.parameters.values():
            if var.trainable:
                self.result.trainable += _elements(var)
            else:
                self.result.frozen += _elements(var)
            self.result.parameter_bytes += _bytes(var)
        averages = {var.name: var for kept in self.averages.values() for var in kept}
        self.result.average_bytes = sum(map(_bytes, averages.values()))
        self.result.optimizer_bytes = sum(map(_bytes, _optimizer_state(self.program, self.parameters, averages)))


def _layer_key(op: Operator) -> tuple[str, str]:
    return _line(op), next((_name(name) for name in _results(op)), "")


def _results(op: Operator) -> list[str]:
    """Its outputs, without the persistable ones that it updates, such as batch normalization's mean; the main one first."""
    names = [name for port in ("Out", "Output", "Y", "Hidden") for name in op.output(port)] + op.output_names
    kept = [name for name in names if not getattr(op.block.find_var(name), "persistable", False)]
    return kept or names


def _name(variable: str) -> str:
    """The layer of a variable: fc_0 for fc_0.tmp_1."""
    match = _LAYER.match(variable)
    return printable(match[0] if match else variable)


def _line(op: Operator) -> str:
    return callsite.place_of(op.callstack) or printable(op.attr("op_namescope") or "").strip("/")


def _role(op: Operator) -> str:
    role = op.attr("op_role", 0)
    if role & roles.BACKWARD:
        return "backward"
    return "optimizer" if role & (roles.OPTIMIZE | roles.LR_SCHEDULE) or op.type in _AVERAGING else "forward"


def _averages(program: Any) -> dict[str, list[Any]]:
    """The persistable variables that keep the averages of each parameter; at "" the counters of all."""
    kept: dict[str, list[Any]] = {}
    for block in program.blocks:
        for op in block.ops:
            if op.type in _AVERAGING:
                shared = op.input("Counters") + op.input("State")
                parameter = next(iter(op.input("Param") + op.input("param")), "")
                for name in shared + op.output_names:
                    var = block.find_var(name)
                    if var is not None and var.persistable:
                        kept.setdefault("" if name in shared else parameter, []).append(var)
    return {name: list({var.name: var for var in found}.values()) for name, found in kept.items()}


def _optimizer_state(program: Any, parameters: dict[str, Parameter], averages: dict[str, Any]) -> list[Any]:
    state = {}
    for block in program.blocks:
        for op in block.ops:
            if _role(op) == "optimizer" and op.type not in _AVERAGING:
                for name in op.output_names:
                    var = block.find_var(name)
                    if var is not None and var.persistable and name not in parameters and name not in averages:
                        state[name] = var
    return list(state.values())


def _elements(var: Any) -> int:
    return Value(var.dtype, var.shape).size or 0


def _bytes(var: Any) -> int:
    return Value(var.dtype, var.shape).bytes or 0


def _sum_if_known(numbers: list[int | None]) -> int | None:
    return None if any(one is None for one in numbers) else sum(one for one in numbers if one is not None)


def _plan_line(program: Any, sized: SizedProgram) -> str:
    """The plan depends only on shapes and dtypes, so all values are zeros."""
    from ..executor import Executor
    from ..feeds import numpy_dtype
    from ..place import CPUPlace
    from ..scope import Scope

    scope, block, feed = Scope(), program.global_block(), {}
    read = {name: op for op in reversed(block.ops) for name in op.input_names}
    for name, op in read.items():
        var, value = block.find_var(name), sized.value(op, name)
        if var is None or value is None or var.block is not block:
            continue
        if var.persistable:
            scope.set(name, np.zeros(var.shape, numpy_dtype(var.dtype)))
        elif var.need_check_feed:
            if value.size is None:
                raise ProgramError(f"summary(plan=True): '{printable(name)}' is {list(value.shape)}, its size is not known")
            feed[name] = np.zeros(value.shape, numpy_dtype(value.dtype))
    return Executor(CPUPlace()).plan_text(program, feed, [], scope).splitlines()[0]
