# Variables that several operators write: where their gradients end, and the values that gradients can still read.
from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from . import callsite, dtypes, roles
from ._core import ProgramError, printable
from .backward_blocks import runs_block
from .dataflow import blocks_of
from .errors import located
from .gradient_names import ENDS, gradient_of, is_marked, variable_name
from .operator import Operator
from .schemas import op_schema

if TYPE_CHECKING:
    from .block import Block
    from .program import Program

Description = dict[str, Any]


def end_gradients(op: Operator, produced: set[str], descriptions: list[Description]) -> None:
    """The gradients of what an operator overwrites end with it: what was before has one of its own."""
    ended = [name for name in op.output_names if name in produced and name not in op.input_names and not _is_array(op, name)]
    produced.difference_update(ended)
    if ended and not descriptions:
        descriptions.append({"type": "", "inputs": [], "outputs": [], "attrs": {}})
    if ended:
        descriptions[-1].setdefault(ENDS, []).extend(map(gradient_of, ended))


class Overwrites:
    """The operators of a program that write each variable."""

    def __init__(self, program: Program):
        self.program = program
        self._blocks: dict[int, _Writes] = {}
        self._reads: list[tuple[Operator, list[Description]]] = []
        self._with_gradient: set[int] = set()

    def note(self, op: Operator, descriptions: list[Description]) -> None:
        """Notes the gradient operators of `op`, for require_values."""
        if runs_block(op):
            self._with_gradient.update([id(op)] if descriptions else [])
        elif op.type != "increment":  # its gradient counts back
            self._reads.append((op, descriptions))

    def require_values(self) -> None:
        """ProgramError if gradient operators need a value that will not be there, because another operator takes its place.

        Gradients read what is there after the last operator of the block, and in loops, of variables around the block, what
        was there at the beginning of the step.
        """
        for op, descriptions in self._reads:
            self._require_values_of(op, descriptions)

    def _require_values_of(self, op: Operator, descriptions: list[Description]) -> None:
        for port, name in _values_read(descriptions):
            var = op.block.find_var(name)
            if var is None or var.kind != dtypes.TENSOR:
                continue
            writer = self._writer_instead(op, name, name in op.input(port))
            if writer is not None:
                place = callsite.place_of(writer.callstack)
                error = ProgramError(
                    f"the gradient needs '{printable(name)}' as it is here, but {printable(writer.type)}"
                    f"{' at ' + place if place else ''} writes it too, and one value is kept: read a copy, which layers.assign "
                    "makes, or write to another variable"
                )
                raise located(error, op.describe(), op.callstack)

    def _writer_instead(self, op: Operator, name: str, is_input: bool) -> Operator | None:
        """The operator that wrote the value which the gradient of `op` would read, if it is not the value that op read
        (is_input) or wrote."""
        here = self._of(op.block)
        at = here.places.get(id(op), len(op.block.ops))
        ops, var = op.block.ops, op.block.var(name)
        writers = [i for i in here.writers.get(name, ()) if not self._counts_back(ops[i], name)]
        if var.persistable:  # statistics, which normalizations update, are not read in training
            writers = [i for i in writers if name not in ops[i].input_names]
        later = [i for i in writers if i > at or (i == at and is_input)]
        earlier = [i for i in writers if i < at or (i == at and not is_input)]
        runner = None if name in op.block.vars else self._runner(op.block)
        if runner is not None and runner.type == "while":
            # No step keeps these values.
            in_place = [i for i in writers if var.persistable or name in ops[i].input_names]
            return next((ops[i] for i in (*in_place, *earlier)), None)
        if later:
            return ops[later[-1]]
        return None if runner is None else self._writer_instead(runner, name, not earlier)

    def _counts_back(self, op: Operator, name: str) -> bool:
        """Whether an operator only counts with the variable, so that its gradient restores the value. A loop or branch through
        which no gradient goes has none."""
        inside = [one for index in blocks_of(op) for one in self.program.blocks[index].ops if name in one.output_names]
        if inside:
            return id(op) in self._with_gradient and all(self._counts_back(one, name) for one in inside)
        return op.type == "increment" and op.block.idx > 0 and op.input("X") == op.output("Out")

    def _runner(self, block: Block) -> Operator | None:
        """The operator that runs a block."""
        if block.parent_idx < 0:
            return None
        return next((op for op in self.program.blocks[block.parent_idx].ops if block.idx in blocks_of(op)), None)

    def _of(self, block: Block) -> _Writes:
        if block.idx not in self._blocks:
            self._blocks[block.idx] = _Writes(block)
        return self._blocks[block.idx]


class _Writes:
    """Where the operators of a block stand, and where each variable is written; training writes after gradients are made."""

    def __init__(self, block: Block):
        self.places = {id(op): i for i, op in enumerate(block.ops)}
        self.writers: dict[str, list[int]] = {}
        for i, op in enumerate(block.ops):
            if not op.attr("op_role", 0) & (roles.OPTIMIZE | roles.LR_SCHEDULE):
                for name in op.output_names:
                    self.writers.setdefault(name, []).append(i)


def _values_read(descriptions: list[Description]) -> list[tuple[str, str]]:
    """Ports and names of the variables of the forward pass whose elements gradient operators read."""
    return [
        (port, variable_name(name))
        for description in descriptions
        for port, names in description["inputs"]
        if port not in _shape_ports(description["type"])
        for name in names
        if is_marked(name)
    ]


@cache
def _shape_ports(op_type: str) -> frozenset[str]:
    # X_W is the port of read_from_array, whose schema does not say it.
    return frozenset(port["name"] for port in op_schema(op_type)["inputs"] if port["shape_only"] or port["name"] == "X_W")


def _is_array(op: Operator, name: str) -> bool:
    var = op.block.find_var(name)
    return var is not None and var.kind == dtypes.TENSOR_ARRAY
