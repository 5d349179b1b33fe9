# Gradients of the operators that run blocks: for each block a block of gradients, and the operator
# that runs it.
from __future__ import annotations

from typing import Any, Callable, Dict, List, Set

from . import dtypes
from .operator import EMPTY_NAME, Operator
from .program import Block

GRAD = "@GRAD"

Description = Dict[str, Any]
OfOps = Callable[[List[Operator], Set[str], Set[str]], List[Description]]
AppendAll = Callable[[Block, List[Description]], None]


def runs_block(op: Operator) -> bool:
    return op.type in ("while", "conditional_block", "recurrent")


def block_gradient(op: Operator, produced: Set[str], reached: Set[str], of_ops: OfOps,
                   append_all: AppendAll) -> List[Description]:
    """The operators that compute the gradient of one that runs a block; as backward._gradient_ops.
    Makes the block that they run."""
    if produced.isdisjoint(op.output_names) or reached.isdisjoint(op.input_names):
        return []
    return _BlockGradient(op, produced, reached, of_ops, append_all).make()


class _BlockGradient:
    def __init__(self, op: Operator, produced: Set[str], reached: Set[str], of_ops: OfOps, append_all: AppendAll):
        self.op, self.produced, self.reached = op, produced, reached
        self.of_ops, self.append_all = of_ops, append_all
        self.program = op.block.program
        self.body = self.program.blocks[op.attr("sub_block")]
        self.read_port, self.written_port = {
            "while": ("X", "Out"), "conditional_block": ("Input", "Out"), "recurrent": ("parameters", "outputs"),
        }[op.type]
        self.reads = list(op.input(self.read_port))
        self.writes = list(op.output(self.written_port))

    def make(self) -> List[Description]:
        inner = self.reached_inside()
        targets = {name for name in self.writes if name in self.produced and name in inner}
        block = self.gradient_block()
        while True:
            del self.program.blocks[block.idx + 1:]  # those of loops inside, of another try
            received = set(targets)
            descriptions = self.of_ops(self.body.ops, received, inner)
            # What a step reads of the one before it has a gradient there, though nothing after the loop reads it.
            more = {name for name in received & set(self.writes) & set(self.reads)} - targets
            if self.op.type != "while" or not more:
                break
            targets |= more
        descriptions += self.ended(targets, descriptions)
        for name in sorted(targets):
            declare_like(block, name + GRAD, name)
        self.append_all(block, descriptions)
        return self.zeros(targets) + [self.operator(block, targets, descriptions)]

    def reached_inside(self) -> Set[str]:
        """The variables that need a gradient inside; what a step writes is what the next one reads."""
        inner = {name for name in [*self.reads, *self.writes] if name in self.reached}
        while True:
            before = len(inner)
            for op in self.body.ops:
                if inner.isdisjoint(op.input_names):
                    continue
                inner.update(name for name in op.output_names if self.is_differentiable(name))
            if len(inner) == before:
                return inner

    def is_differentiable(self, name: str) -> bool:
        var = self.body.find_var(name)
        return var is not None and dtypes.is_float(var.dtype) and not var.stop_gradient

    def ended(self, targets: Set[str], descriptions: List[Description]) -> List[Description]:
        """Zeros where the block overwrites without reading: the gradient ends there, for what was before."""
        given = {name for description in descriptions for _, names in description["outputs"] for name in names}
        rest = sorted(name for name in targets.intersection(self.reads)
                      if name + GRAD not in given and self.kind(name) == dtypes.TENSOR)
        return [self.zeros_like(name) for name in rest]

    def kind(self, name: str) -> int:
        return self.body.var(name).kind

    def zeros_like(self, name: str) -> Description:
        return {"type": "fill_any_like", "inputs": [("X", [name])], "outputs": [("Out", [name + GRAD])],
                "attrs": {"value": 0.0, "op_callstack": self.op.callstack}}

    def zeros(self, targets: Set[str]) -> List[Description]:
        """For what has no gradient from outside. Arrays begin without elements."""
        missing = sorted(name for name in targets - self.produced if self.kind(name) == dtypes.TENSOR)
        return [self.zeros_like(name) for name in missing]

    def gradient_block(self) -> Block:
        block = Block(self.program, len(self.program.blocks), self.op.block.idx)
        block.forward_block_idx = self.body.idx
        self.program.blocks.append(block)
        return block

    def operator(self, block: Block, targets: Set[str], descriptions: List[Description]) -> Description:
        given = {name for description in descriptions for _, names in description["outputs"] for name in names}
        wanted = [name + GRAD if name in self.reached and name + GRAD in given | {t + GRAD for t in targets}
                  else EMPTY_NAME for name in self.reads]
        self.produced.update(name[:-len(GRAD)] for name in wanted if name != EMPTY_NAME)
        entering = [name + GRAD for name in sorted(targets)]
        inputs = [(port, list(names)) for port, names in self.op.inputs.items() if port not in ("Condition",)]
        inputs += [(port, list(names)) for port, names in self.op.outputs.items()]
        inputs.append((self.written_port + GRAD, entering))
        attrs = {name: value for name, value in self.op.attrs.items()
                 if name not in ("op_role", "op_role_var", "op_callstack", "sub_block")}
        attrs.update(sub_block=block.idx, op_callstack=self.op.callstack)
        if self.op.type == "while":
            attrs["original_output_grad"] = entering
        return {"type": self.op.type + "_grad", "inputs": inputs,
                "outputs": [(self.read_port + GRAD, wanted)], "attrs": attrs}


def declare(block: Block, description: Description) -> None:
    """Makes the variables of gradients that an operator writes. Not every record says their shapes, and
    a block of gradients has variables of its own."""
    for _, names in description["outputs"]:
        for name in names:
            if GRAD in name and name not in block.vars:
                declare_like(block, name, name[:name.index(GRAD)].split("grad/")[-1])


def declare_like(block: Block, name: str, forward_name: str) -> None:
    forward = block.find_var(forward_name)
    if forward is not None and name not in block.vars:
        block.create_var(name, dtype=forward.dtype, shape=forward.shape, kind=forward.kind, lod_level=forward.lod_level)
