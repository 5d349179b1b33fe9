# Data flow: variables that blocks of a program read and write, and operators that a variable depends on.
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import dtypes, roles
from ._core import ProgramError, printable
from .operator import EMPTY_NAME

_TRAINING = roles.BACKWARD | roles.OPTIMIZE | roles.LR_SCHEDULE


def blocks_of(op: Any) -> list[int]:
    """The indices of the blocks that an operator runs."""
    one = [value for attr_type, value in op._attrs.values() if attr_type == dtypes.BLOCK]
    return one + [index for attr_type, values in op._attrs.values() if attr_type == dtypes.BLOCKS for index in values]


def outer_reads_and_writes(inside: Any) -> tuple[list[str], list[str]]:
    """The variables around a block that its operators read before they write them, and those they
    write; blocks inside it included."""
    made: set[str] = set()
    reads: list[str] = []
    writes: list[str] = []

    def walk(here: Any) -> None:
        for op in here.ops:
            for name in op.input_names:
                if name not in made and name not in reads and _is_outside(inside, name):
                    reads.append(name)
            for index in blocks_of(op):
                walk(inside.program.blocks[index])
            for name in op.output_names:
                made.add(name)
                if name not in writes and _is_outside(inside, name):
                    writes.append(name)

    walk(inside)
    return reads, writes


def _is_outside(inside: Any, name: str) -> bool:
    return name != EMPTY_NAME and name not in inside.vars and inside.find_var(name) is not None


class _Access:
    """The variables that one operator of block 0 reads and writes, those of the blocks that it runs included.

    `if_there` are the variables whose earlier value counts if there is one: a branch that is not taken and a loop
    without steps leave them as they are, and what is written to an array is added to it.
    """

    def __init__(self, block: Any, op: Any):
        self.op = op
        self.reads, self.writes = set(op.input_names), set(op.output_names)
        self.if_there = {name for name in self.writes if block.var(name).kind == dtypes.TENSOR_ARRAY}
        if not blocks_of(op):
            return
        self.if_there |= self.reads
        self.reads -= self.writes
        for index in blocks_of(op):
            reads, writes = outer_reads_and_writes(block.program.blocks[index])
            self.reads |= block.vars.keys() & reads  # a block of gradients sees variables of its forward block, too
            self.writes |= block.vars.keys() & writes
        self.if_there |= self.writes


def needed_ops(block: Any, feeds: list[str], fetches: list[str]) -> list[int]:
    """The indices of the operators of block 0 that a run of the program with `feeds` needs for `fetches`.

    The analysis is that of live variables, backwards over the block. A feed gives a variable its value before the first
    operator, so an operator that overwrites it counts as any other; the feed of a variable that is not an input of the program
    stands for the operator that computes it. Persistable variables keep their values from run to run: an operator that
    changes one for the next run is needed too, unless it belongs to training or needs what is not fed.
    ProgramError when a variable is needed that is neither fed, nor persistable, nor computed.
    """
    return _LiveVariables(block, feeds, fetches).needed()


class _LiveVariables:
    def __init__(self, block: Any, feeds: list[str], fetches: list[str]):
        self.block, self.feeds, self.fetches = block, feeds, fetches
        self.accesses = [_Access(block, op) if op.type not in ("feed", "fetch") else None for op in block.ops]
        self.given = {*feeds, *(name for name, var in block.vars.items() if var.persistable)}
        self.first_write: dict[str, int] = {}
        replaced = set()
        inputs = {name for op in block.ops if op.type == "feed" for name in op.output_names}
        for i, access in self.in_order():
            replaced |= {
                name
                for name in access.writes - access.reads
                if name not in self.first_write and name in feeds and name not in inputs and not block.var(name).need_check_feed
            }
            for name in access.writes:
                self.first_write.setdefault(name, i)
            inputs |= access.reads  # before it is written
        self.replaced = replaced

    def in_order(self) -> list[tuple[int, _Access]]:
        return [(i, access) for i, access in enumerate(self.accesses) if access]

    def needed(self) -> list[int]:
        kept, begin = self.live(self.fetches, set(range(len(self.accesses))))
        missing = sorted(name for name in begin - self.given if self.block.var(name).kind != dtypes.TENSOR_ARRAY)
        if missing:
            raise ProgramError(
                f"the fetches need '{printable(missing[0])}', which is neither fed nor computed: "
                f"the feeds are {', '.join(self.feeds) or 'none'}"
            )
        runnable = self.runnable()
        while True:
            state = {name for name in begin if name in self.block.vars and self.block.vars[name].persistable}
            changing, before = self.live(state, runnable)
            if changing <= kept and before <= begin:
                return sorted(kept)
            kept, begin = kept | changing, begin | before

    def live(self, end: Iterable[str], candidates: set[int]) -> tuple[set[int], set[str]]:
        """The candidates on which the variables `end` depend, and the variables that are read before any write."""
        live, kept = set(end), set()
        for i, access in reversed(self.in_order()):
            live -= {name for name in access.writes & self.replaced if self.first_write[name] == i}
            if i in candidates and live & access.writes:
                kept.add(i)
                live -= access.writes
                live |= access.reads | {name for name in access.if_there if self.has_value(name, i)}
        return kept, live

    def has_value(self, name: str, i: int) -> bool:
        return name in self.given or self.first_write.get(name, i) < i

    def runnable(self) -> set[int]:
        """The operators, but for those of training, whose inputs are fed, persistable or computed."""
        there = set(self.given)
        found = set()
        for i, access in self.in_order():
            missing = {name for name in access.reads - there if self.block.var(name).kind != dtypes.TENSOR_ARRAY}
            if not missing and not access.op.attr("op_role", roles.FORWARD) & _TRAINING:
                found.add(i)
                there |= access.writes
        return found
