# Gradients of control-flow operators: for each block a gradient block, and the operator that runs it.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import dtypes
from ._core import ProgramError
from .block import Block
from .errors import located
from .operator import EMPTY_NAME, Operator

GRAD = "@GRAD"

Description = dict[str, Any]
OfOps = Callable[[list[Operator], set[str], set[str], int], list[Description]]
AppendAll = Callable[[Block, list[Description], list[str]], None]


def runs_block(op: Operator) -> bool:
    return op.type in ("while", "conditional_block", "recurrent")


def block_gradient(
    op: Operator, produced: set[str], reached: set[str], parent: int, of_ops: OfOps, append_all: AppendAll
) -> list[Description]:
    """The operators that compute the gradient of one that runs a block; as backward._gradient_ops.
    Makes the block that they run, inside block `parent`."""
    if produced.isdisjoint(op.output_names) or reached.isdisjoint(op.input_names):
        return []
    if op.attr("is_test"):
        error = ProgramError("the loop keeps no values for a gradient: is_test is set, as by clone(for_test=True)")
        raise located(error, op.describe(), op.callstack)
    kind = _RecurrentGradient if op.type == "recurrent" else _BlockGradient
    return kind(op, produced, reached, parent, of_ops, append_all).make()


class _BlockGradient:
    def __init__(self, op: Operator, produced: set[str], reached: set[str], parent: int, of_ops: OfOps, append_all: AppendAll):
        self.op, self.produced, self.reached, self.parent = op, produced, reached, parent
        self.of_ops, self.append_all = of_ops, append_all
        self.program = op.block.program
        self.body = self.program.blocks[op.attr("sub_block")]
        self.reads = [name for port in self.read_ports() for name in op.input(port)]
        self.writes = list(op.output(self.written_port()))

    def read_ports(self) -> list[str]:
        return ["X"] if self.op.type == "while" else ["Input"]

    def written_port(self) -> str:
        return "Out"

    def next_of(self, received: set[str]) -> set[str]:
        """The variables of a step that need a gradient because the next step reads them and `received` one."""
        return received & set(self.writes) & set(self.reads) if self.op.type == "while" else set()

    def make(self) -> list[Description]:
        inner = self.reached_inside()
        targets = self.with_gradient() & inner
        block = self.gradient_block()
        while True:
            del self.program.blocks[block.idx + 1 :]  # those of loops inside, of another try
            received = set(targets)
            descriptions = self.of_ops(self.body.ops, received, inner, block.idx)
            # A value that the next step reads has a gradient, even if no operator after the loop reads it.
            added = self.next_of(received) - targets
            if not added:
                break
            targets |= added
        descriptions += self.ended(targets, received)
        for name in sorted(targets):
            declare_like(block, name + GRAD, name)
        self.append_all(block, descriptions, [name + GRAD for name in targets])
        return self.zeros(targets) + [self.operator(block, targets, received)]

    def with_gradient(self) -> set[str]:
        """Those of its outputs that have a gradient."""
        return self.produced.intersection(self.writes)

    def reached_inside(self) -> set[str]:
        """The variables that need a gradient inside; what a step writes is what the next one reads."""
        inner = self.begins()
        while True:
            before = len(inner)
            inner |= self.fed_back(inner)
            for op in self.body.ops:
                if inner.isdisjoint(op.input_names):
                    continue
                inner.update(name for name in op.output_names if self.is_differentiable(name))
            if len(inner) == before:
                return inner

    def begins(self) -> set[str]:
        return {name for name in [*self.reads, *self.writes] if name in self.reached}

    def fed_back(self, inner: set[str]) -> set[str]:
        """The name under which the next step reads `inner`."""
        return set()

    def is_differentiable(self, name: str) -> bool:
        var = self.body.find_var(name)
        return var is not None and dtypes.has_gradient(var.dtype) and not var.stop_gradient

    def ended(self, targets: set[str], received: set[str]) -> list[Description]:
        """Zeros where the block overwrites without reading: the gradient ends there, for what was before."""
        return [self.zeros_like(name) for name in sorted(targets.intersection(self.reads) - received)]

    def kind(self, name: str) -> int:
        return self.body.var(name).kind

    def zeros_like(self, name: str) -> Description:
        return {
            "type": "fill_any_like",
            "inputs": [("X", [name])],
            "outputs": [("Out", [name + GRAD])],
            "attrs": {"value": 0.0, "op_callstack": self.op.callstack},
        }

    def zeros(self, targets: set[str]) -> list[Description]:
        """Zeros for variables without a gradient from outside. Arrays begin without elements."""
        missing = sorted(name for name in targets - self.produced if self.kind(name) == dtypes.TENSOR)
        return [self.zeros_like(name) for name in missing]

    def gradient_block(self) -> Block:
        return self.program.add_block(self.parent, self.body.idx)

    def operator(self, block: Block, targets: set[str], received: set[str]) -> Description:
        given = {name + GRAD for name in received} | self.passing(targets)
        inputs = [(port, list(names)) for port, names in self.op.inputs.items() if port != "Condition"]
        inputs += [(port, list(names)) for port, names in self.op.outputs.items()]
        inputs.append((self.written_port() + GRAD, self.entering(targets)))
        attrs = {
            name: value
            for name, value in self.op.attrs.items()
            if name not in ("op_role", "op_role_var", "op_callstack", "sub_block")
        }
        attrs.update(sub_block=block.idx, op_callstack=self.op.callstack)
        if self.op.type == "while":
            attrs["original_output_grad"] = self.entering(targets)
        outputs = []
        for port in self.read_ports():
            wanted = [
                name + GRAD if name in self.reached and self.inside(port, i) + GRAD in given else EMPTY_NAME
                for i, name in enumerate(self.op.input(port))
            ]
            # PaddlePaddle's recurrent_grad requires all its ports, whether it has to write them or not.
            if self.op.type == "recurrent" or any(name != EMPTY_NAME for name in wanted):
                outputs.append((port + GRAD, wanted))
                self.produced.update(name[: -len(GRAD)] for name in wanted if name != EMPTY_NAME)
        return {"type": self.op.type + "_grad", "inputs": inputs, "outputs": outputs, "attrs": attrs}

    def inside(self, port: str, i: int) -> str:
        """The name inside of what a port reads."""
        return self.op.input(port)[i]

    def passing(self, targets: set[str]) -> set[str]:
        """Gradients that enter and, where no step runs, leave as they are."""
        return {name + GRAD for name in targets}

    def entering(self, targets: set[str]) -> list[str]:
        return [name + GRAD for name in sorted(targets)]


class _RecurrentGradient(_BlockGradient):
    """For the operator `recurrent`, whose attributes name the states that a step passes to the next one."""

    def read_ports(self) -> list[str]:
        return ["inputs", "initial_states", "parameters"]

    def written_port(self) -> str:
        return "outputs"

    def state_pairs(self) -> list[tuple[str, str]]:
        return list(zip(self.op.attr("ex_states"), self.op.attr("states")))

    def begins(self) -> set[str]:
        return super().begins() | {
            ex for ex, initial in zip(self.op.attr("ex_states"), self.op.input("initial_states")) if initial in self.reached
        }

    def fed_back(self, inner: set[str]) -> set[str]:
        return {ex for ex, state in self.state_pairs() if state in inner}

    def with_gradient(self) -> set[str]:
        # All: zeros() gives those that nothing reads. The state of the last step would have no gradient in PaddlePaddle.
        return set(self.writes)

    def next_of(self, received: set[str]) -> set[str]:
        return {state for ex, state in self.state_pairs() if ex in received}

    def ended(self, targets: set[str], received: set[str]) -> list[Description]:
        return []

    def zeros(self, targets: set[str]) -> list[Description]:
        return [self.zeros_like(name) for name in self.writes if name not in self.produced]

    def inside(self, port: str, i: int) -> str:
        return self.op.attr("ex_states")[i] if port == "initial_states" else self.op.input(port)[i]

    def passing(self, targets: set[str]) -> set[str]:
        return set()

    def entering(self, targets: set[str]) -> list[str]:
        return [name + GRAD for name in self.writes]


def declare(block: Block, description: Description) -> None:
    """Makes the variables of gradients that an operator writes. Not every schema infers their shapes, and a gradient
    block has local variables."""
    for _, names in description["outputs"]:
        for name in names:
            if GRAD in name and name not in block.vars:
                declare_like(block, name, name[: name.index(GRAD)].split("grad/")[-1])


def declare_like(block: Block, name: str, forward_name: str) -> None:
    forward = block.find_var(forward_name)
    if forward is not None and name not in block.vars:
        block.create_var(name, dtype=forward.dtype, shape=forward.shape, kind=forward.kind, lod_level=forward.lod_level)
