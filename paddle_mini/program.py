# Program: blocks of operators and variables, built in Python and serialized to bytes.
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from . import _core, dataflow, show, transform, unique_name
from .block import Block
from .errors import whole
from .gradient_names import calls_before
from .operator import Operator
from .renamed import answers_names
from .transaction import after_undo, before_growing, before_setting
from .variable import Parameter, Variable, names_of

Names = Iterable[Variable | str] | Variable | str

# The release of PaddlePaddle whose operators and defaults a program means: 2.6.2.
FORMAT_VERSION = 2006002


@answers_names
class Program:
    """A computation: blocks of operators and variables.

    It is PaddlePaddle's ProgramDesc: to_bytes() is what PaddlePaddle reads and writes.
    print(program) shows one line an operator.
    Example:
        >>> main, startup = pm.Program(), pm.Program()
        >>> with pm.program_guard(main, startup):
        ...     y = pm.layers.relu(pm.layers.data("x", [-1, 8]))
        >>> [op.type for op in main.global_block().ops]
        ['relu']
        >>> pm.Program.from_bytes(main.to_bytes()).global_block().var(y.name).shape
        (-1, 8)
    """

    def __init__(self) -> None:
        self.blocks = [Block(self, 0)]
        self._random_seed = 0
        self.backward_count = 0
        self.is_loaded = False  # its declarations are those of a file
        self._current = 0
        self._version = 0
        self._names: unique_name.Counters = {}
        self._seeds = 0
        self._other: dict[str, Any] = {"version": FORMAT_VERSION, "op_versions": [], "unknown": b""}
        self._bytes: bytes | None = None
        self._handle: Any = None
        self._calls: dict[Any, Any] = {}  # the Executor's cache for this version
        self.schedules: dict[str, Callable[[], float]] = {}
        """Values that the Executor writes into persistable variables, by name, before each run: the rates of
        LRSchedulers. Copies share it; bytes do not hold it."""
        self.parameter_info: Mapping[str, Mapping[str, Any]] = {}
        """By variable: the facts that PaddlePaddle's jit.save writes to a separate file: see io/parameter_info.py."""
        self.minimizers: dict[str, tuple[Any, str]] = {}
        """By parameter: its optimizer, the outermost of several around each other, and its gradient's name. Copies with
        the gradient have it; bytes do not hold it."""

    def changed(self) -> None:
        """A variable, operator or attribute changed: bytes and plans made before are stale."""
        after_undo(self._forget)
        self._forget()

    def _forget(self) -> None:
        self._version += 1
        self._bytes = self._handle = None
        if self._calls:
            self._calls = {}

    def global_block(self) -> Block:
        """The outermost block, which a run begins with."""
        return self.blocks[0]

    def block(self, index: int) -> Block:
        """The block at this position."""
        return self.blocks[index]

    def current_block(self) -> Block:
        """The block to which layer functions append."""
        return self.blocks[self._current]

    def create_block(self, parent_index: int | None = None) -> Block:
        """A new inner block, which is the current one until rollback()."""
        parent = self._current if parent_index is None else parent_index
        block = self.add_block(parent)
        before_setting(vars(self), "_current")
        self._current = block.idx
        return block

    def add_block(self, parent_index: int, forward_index: int = -1) -> Block:
        """A new inner block, which does not become the current one. forward_index: the block whose gradient it
        computes."""
        block = Block(self, len(self.blocks), parent_index)
        block.forward_block_idx = forward_index
        before_growing(self.blocks)
        self.blocks.append(block)
        self.changed()
        return block

    def rollback(self) -> None:
        """Makes the parent of the current block the current one."""
        before_setting(vars(self), "_current")
        self._current = max(self.current_block().parent_idx, 0)

    def all_parameters(self) -> list[Parameter]:
        """The parameters, in the order they were created."""
        return [var for var in self.list_vars() if isinstance(var, Parameter)]

    def list_vars(self) -> Iterator[Variable]:
        """Every variable of every block."""
        for block in self.blocks:
            yield from block.vars.values()

    def new_name(self, key: str) -> str:
        """A name that this program does not have yet: fc_0 for "fc"."""
        while True:  # counters start again in unique_name.guard(), and users give names of this form too
            name = unique_name.generate(key, self._names)
            if not any(name in block.vars for block in self.blocks):
                return name

    @property
    def random_seed(self) -> int:
        """Not 0: random operators that are appended after it was set draw the same numbers at every run."""
        return self._random_seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        self._random_seed = whole("random_seed", seed, low=0)

    def next_seed(self) -> int:
        """A seed for one random operator: 0, the executor's generator, without random_seed."""
        if not self._random_seed:
            return 0
        before_setting(vars(self), "_seeds")
        self._seeds += 1
        return (self._random_seed * 1000003 + self._seeds * 7919) % (2**31 - 1) or 1

    @property
    def provenance(self) -> dict[str, Any]:
        """How the parameters that belong to the program were made, such as which average they are; kept in its file,
        where PaddlePaddle ignores it. JSON values; assign another dict to change it."""
        import json

        try:
            facts = json.loads(self._other.get("provenance") or "{}")
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict):
            raise _core.ProgramError("the program's provenance is not a JSON object")
        return facts

    @provenance.setter
    def provenance(self, facts: Mapping[str, Any]) -> None:
        import json

        try:
            before_setting(self._other, "provenance")
            self._other["provenance"] = json.dumps(dict(facts), sort_keys=True) if facts else ""
        except (TypeError, ValueError) as error:
            raise _core.ProgramError(f"the provenance is not a JSON object: {error}") from None
        self.changed()

    def to_bytes(self) -> bytes:
        """The program as a serialized ProgramDesc, the content of a .pdmodel file."""
        if self._bytes is None:
            self._bytes = _core.encode_program(self.describe())
        return self._bytes

    @staticmethod
    def from_bytes(data: bytes) -> Program:
        """The program in these bytes; ProgramError when they are not a ProgramDesc, or when its blocks and declarations
        contradict each other. Operators that this build does not know are kept: handle() and a run refuse them."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise _core.ProgramError(f"from_bytes takes bytes, not {type(data).__name__}")
        program = Program._from_description(_core.decode_program(bytes(data)))
        program.is_loaded = True
        return program

    def handle(self) -> Any:
        """The program in C++, verified; made once for every version."""
        if self._handle is None:
            self._handle = _core.Program(self.to_bytes())
        return self._handle

    def clone(self, for_test: bool = False) -> Program:
        """A copy. for_test leaves out operators of backward, optimizer and learning-rate schedule
        and sets is_test, so call it before or after minimize, as you like."""
        description = self.describe()
        return self._copy(transform.for_test(description) if for_test else description)

    def without(self, left_out_roles: int) -> Program:
        """A copy without the operators whose op_role has any of these bits, and without variables that only they
        name."""
        return self._copy(transform.without(self.describe(), left_out_roles))

    def only(self, kept_roles: int) -> Program:
        """A copy with just the operators whose op_role has any of these bits, and without variables that only others
        name."""
        return self._copy(transform.only(self.describe(), kept_roles))

    def prune(self, feeds: Names, fetches: Names) -> Program:
        """A copy with only the operators that compute `fetches` from `feeds`; in blocks of loops and branches, operators
        whose results are not read are removed too. One variable or name stands for a list of one. ProgramError when a
        variable that is neither fed, nor persistable, nor computed is needed."""
        feed_names, fetch_names = names_of(feeds, "prune: feeds"), names_of(fetches, "prune: fetches")
        for name in feed_names + fetch_names:
            self.global_block().var(name)
        pruned = self
        while True:
            needed = dataflow.needed_ops(pruned.global_block(), feed_names, fetch_names)
            before = pruned.describe()
            description = transform.pruned(before, needed, feed_names + fetch_names)
            pruned = self._copy(description)
            kept = [before["blocks"][0]["ops"][i]["inputs"] for i in needed]
            if [op["inputs"] for op in description["blocks"][0]["ops"]] == kept:
                return pruned
            # A loop or branch reads less now: what computed that is no longer needed.

    def describe(self) -> dict[str, Any]:
        """The program as lists, dicts and numbers; a description shares nothing with the program."""
        return {**self._other, "blocks": [block.describe() for block in self.blocks]}

    def _copy(self, description: dict[str, Any]) -> Program:
        copy = Program._from_description(description)
        copy._random_seed, copy._seeds = self._random_seed, self._seeds
        copy._names, copy.is_loaded = dict(self._names), self.is_loaded
        copy.parameter_info = self.parameter_info
        copy.schedules = {name: rate for name, rate in self.schedules.items() if name in copy.blocks[0].vars}
        copy.minimizers = {name: one for name, one in self.minimizers.items() if one[1] in copy.blocks[0].vars}
        for block, of_copy in zip(self.blocks[:1], copy.blocks):
            for name, var in of_copy.vars.items():
                var.shape_known = block.vars[name].shape_known if name in block.vars else True
        for parameter in copy.all_parameters():
            original = self.blocks[parameter.block.idx].vars.get(parameter.name)
            if isinstance(original, Parameter):
                parameter.copy_training(original)
        return copy

    @staticmethod
    def _from_description(description: dict[str, Any]) -> Program:
        program = Program()
        other = dict(description)
        program.blocks = []
        for index, facts in enumerate(other.pop("blocks")):
            facts = dict(facts)
            facts.pop("idx")
            block = Block(program, index, facts.pop("parent_idx"))
            program.blocks.append(block)
            block.forward_block_idx = facts.pop("forward_block_idx")
            for var in facts.pop("vars"):
                block.vars[var["name"]] = Variable.from_description(block, var)
            block.ops = [Operator(block, op) for op in facts.pop("ops")]
            block._other = facts
        if not program.blocks:
            raise _core.ProgramError("the program has no blocks")
        program._other = other
        program.backward_count = calls_before(program.blocks[0].vars)
        program._names = unique_name.counters_after(var.name for var in program.list_vars())
        return program

    def to_dot(self, path: str | os.PathLike[str] | None = None) -> str:
        """The program as a graph in the language of Graphviz; also written to a file if there is a path.

        Example:
            >>> y = pm.layers.relu(pm.layers.data("x", [-1, 2]))
            >>> text = pm.default_main_program().to_dot("program.dot")  # `dot -Tsvg program.dot` draws it
        """
        from .inspection.dot import dot_text
        from .io.regular_files import write_text

        text = dot_text(self)
        if path is not None:
            write_text(path, text)
        return text

    def _repr_html_(self) -> str:
        """A notebook shows the table of summary()."""
        from .inspection.summary import summary

        return summary(self)._repr_html_()

    def __getstate__(self) -> dict[str, Any]:
        """Pickles and deep copies are made without what runs have prepared."""
        return {**vars(self), "_bytes": None, "_handle": None, "_calls": {}}

    def __copy__(self) -> Program:
        """A program does not share its blocks."""
        return self.clone()

    def __str__(self) -> str:
        return show.program_text(self)

    def __repr__(self) -> str:
        ops = sum(len(block.ops) for block in self.blocks)
        return f"<Program with {ops} operators, {len(self.all_parameters())} parameters>"
