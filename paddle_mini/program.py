# Program and Block: the operators that layer functions append, in Python until they become bytes.
from __future__ import annotations

import json
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _core, callsite, dataflow, dtypes, roles, show, transform, unique_name
from ._core import printable
from .contracts import typed_attrs
from .errors import located, near
from .operator import EMPTY_NAME, Operator, slots
from .transaction import after_undo, before_growing, before_setting, on_undo
from .variable import Parameter, Variable, name_of

# The release of PaddlePaddle whose operators and defaults a program means: 2.6.2.
FORMAT_VERSION = 2006002


class Block:
    """Operators in the order they run, and the variables they name. Inner blocks, of loops and
    branches, see the variables of their parents."""

    def __init__(self, program: Program, index: int, parent_index: int = -1):
        self.program = program
        self.idx = index
        self.parent_idx = parent_index
        self.forward_block_idx = -1
        self.vars: Dict[str, Variable] = {}
        self.ops: List[Operator] = []
        self._other: Dict[str, Any] = {}

    def has_var(self, name: str) -> bool:
        """Whether this block, not a parent, has the variable."""
        return name in self.vars

    def find_var(self, name: str) -> Optional[Variable]:
        """The variable of this block, its forward block or one around it."""
        block: Optional[Block] = self
        while block is not None:
            if name in block.vars:
                return block.vars[name]
            if block.forward_block_idx >= 0 and name in self.program.blocks[block.forward_block_idx].vars:
                return self.program.blocks[block.forward_block_idx].vars[name]
            block = self.program.blocks[block.parent_idx] if block.parent_idx >= 0 else None
        return None

    def var(self, name: str) -> Variable:
        """As find_var; ProgramError with the nearest name when there is none."""
        found = self.find_var(name)
        if found is None:
            raise _core.ProgramError(f"block {self.idx} has no variable '{printable(name)}'{near(name, self.vars)}")
        return found

    def create_var(self, name: Optional[str] = None, **facts: Any) -> Variable:
        """A new variable; facts are those of Variable: dtype, shape, persistable, …"""
        if name is None:
            name = self.program.new_name("tmp")
        if name in self.vars:
            raise _core.ProgramError(f"block {self.idx} already has a variable '{printable(name)}'")
        if "dtype" in facts:
            facts["dtype"] = dtypes.dtype_name(facts["dtype"])
        if facts.get("shape") is not None:
            facts["shape"] = dtypes.shape_list(facts["shape"])
        return self._add_var(Variable(self, name, **facts))

    def create_parameter(self, name: str, shape: Sequence[int], dtype: Any = "float32",
                         **facts: Any) -> Parameter:
        """A new parameter; facts are those of Parameter: trainable, learning_rate, …"""
        dims = dtypes.shape_list(shape)
        if any(dim < 0 for dim in dims):
            raise _core.ShapeError(f"parameter '{printable(name)}' has shape {dims}: its dimensions must be known")
        if name in self.vars:
            raise _core.ProgramError(f"block {self.idx} already has a variable '{printable(name)}'")
        parameter = Parameter(self, name, dtypes.dtype_name(dtype), dims, **facts)
        self._add_var(parameter)
        return parameter

    def append_op(self, type: str, inputs: Optional[Mapping[str, Any]] = None,
                  outputs: Optional[Mapping[str, Any]] = None,
                  attrs: Optional[Mapping[str, Any]] = None) -> Operator:
        """Adds an operator at the end.

        Ports take variables, names or lists of them. The operator is held against its record, and
        `infer` gives shape and dtype of the outputs; variables that are not there are made.
        Raises ProgramError or ShapeError, ending at the user's line.
        """
        return self.insert_op(len(self.ops), type, inputs, outputs, attrs)

    def insert_op(self, index: int, type: str, inputs: Optional[Mapping[str, Any]] = None,
                  outputs: Optional[Mapping[str, Any]] = None,
                  attrs: Optional[Mapping[str, Any]] = None) -> Operator:
        """As append_op, before the operator that is at `index` now."""
        all_attrs = {**roles.current(), **(attrs or {})}
        if "op_callstack" not in all_attrs:
            all_attrs["op_callstack"] = callsite.user_callstack()
        description: Dict[str, Any] = {"type": type, "inputs": slots(inputs or {}),
                                       "outputs": slots(outputs or {})}
        try:
            description["attrs"] = typed_attrs(type, all_attrs)
            attrs_found, infos = _core.check_op(description, self._infos(description["inputs"]))
            self._check_persistables(infos)
        except _core.Error as error:
            raise located(error, description, all_attrs["op_callstack"]) from None
        description["attrs"] = attrs_found
        for name, info in infos.items():
            self._set_info(name, info)
        op = Operator(self, description)
        self._put_op(index, op)
        self.program.changed()
        return op

    def prepend_op(self, type: str, inputs: Optional[Mapping[str, Any]] = None,
                   outputs: Optional[Mapping[str, Any]] = None,
                   attrs: Optional[Mapping[str, Any]] = None) -> Operator:
        """As append_op, before all others."""
        return self.insert_op(0, type, inputs, outputs, attrs)

    def remove_op(self, index: int) -> None:
        """Takes out the operator at `index`; its variables stay."""
        op = self.ops[index]
        on_undo(partial(self.ops.insert, index if index >= 0 else len(self.ops) + index, op))
        del self.ops[index]
        self.program.changed()

    def _infos(self, inputs: Any) -> Dict[str, Dict[str, Any]]:
        infos = {}
        for port, names in inputs:
            for name in names:
                if name == EMPTY_NAME:
                    continue
                if not isinstance(name, str):
                    raise _core.ProgramError(f"input {port} is {name!r}, not a variable")
                infos[name] = self.var(name).info()
        return infos

    def _check_persistables(self, infos: Mapping[str, Mapping[str, Any]]) -> None:
        for name, info in infos.items():
            var = self.find_var(name)
            if var is None or not var.persistable or not var.shape_known:
                continue
            agree = len(info["shape"]) == len(var.shape) and all(
                a == b or a < 0 or b < 0 for a, b in zip(info["shape"], var.shape))
            if info["dtype"] != var.dtype or not agree:
                raise _core.ShapeError(f"output would be {info['shape']} {info['dtype']}, but "
                                       f"'{printable(name)}' is {list(var.shape)} {var.dtype} and persistable")

    def _set_info(self, name: str, info: Dict[str, Any]) -> None:
        var = self.find_var(name)
        if var is None:
            self._add_var(Variable.from_info(self, name, info))
        elif not (var.persistable and var.shape_known):
            var.set_info(info)

    def _put_op(self, index: int, op: Operator) -> None:
        if index >= len(self.ops):
            before_growing(self.ops)
        else:
            on_undo(partial(self.ops.__delitem__, index if index >= 0 else max(len(self.ops) + index, 0)))
        self.ops.insert(index, op)

    def _add_var(self, var: Variable) -> Variable:
        before_setting(self.vars, var.name)
        self.vars[var.name] = var
        self.program.changed()
        return var

    def describe(self) -> Dict[str, Any]:
        return {"unknown": b"", **self._other, "idx": self.idx, "parent_idx": self.parent_idx,
                "forward_block_idx": self.forward_block_idx,
                "vars": [var.describe() for var in self.vars.values()],
                "ops": [op.describe() for op in self.ops]}


class Program:
    """What a machine is to compute: blocks of operators and variables.

    It is PaddlePaddle's ProgramDesc: to_bytes() is what PaddlePaddle reads and writes.
    print(program) shows one line an operator.
    """

    def __init__(self) -> None:
        self.blocks = [Block(self, 0)]
        self.random_seed = 0
        """Not 0: random operators appended from now on draw the same numbers at every run."""
        self.backward_count = 0
        self._current = 0
        self._version = 0
        self._names: unique_name.Counters = {}
        self._seeds = 0
        self._other: Dict[str, Any] = {"version": FORMAT_VERSION, "op_versions": [], "unknown": b""}
        self._bytes: Optional[bytes] = None
        self._handle: Any = None
        self._calls: Dict[Any, Any] = {}  # what the Executor keeps about this version
        self.schedules: Dict[str, Callable[[], float]] = {}
        """What the Executor writes into persistable variables, by name, before each run: the rates of
        LRSchedulers. Copies share it; bytes do not hold it."""
        self.parameter_info: Mapping[str, Mapping[str, Any]] = {}
        """By variable: what PaddlePaddle's jit.save keeps beside the values, in a file of its own: see io/parameter_info.py."""
        self.minimizers: Dict[str, Tuple[Any, str]] = {}
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
        return self.blocks[0]

    def block(self, index: int) -> Block:
        return self.blocks[index]

    def current_block(self) -> Block:
        """The block to which layer functions append."""
        return self.blocks[self._current]

    def create_block(self, parent_index: Optional[int] = None) -> Block:
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
        """Goes back to the block around the current one."""
        before_setting(vars(self), "_current")
        self._current = max(self.current_block().parent_idx, 0)

    def all_parameters(self) -> List[Parameter]:
        """The parameters, in the order they were created."""
        return [var for var in self.list_vars() if isinstance(var, Parameter)]

    def list_vars(self) -> Iterator[Variable]:
        """Every variable of every block."""
        for block in self.blocks:
            yield from block.vars.values()

    def new_name(self, key: str) -> str:
        """A name that this program does not have yet: fc_0 for "fc"."""
        return unique_name.generate(key, self._names)

    def next_seed(self) -> int:
        """A seed for one random operator: 0, the executor's generator, without random_seed."""
        if not self.random_seed:
            return 0
        before_setting(vars(self), "_seeds")
        self._seeds += 1
        return (self.random_seed * 1000003 + self._seeds * 7919) % (2**31 - 1) or 1

    @property
    def provenance(self) -> Dict[str, Any]:
        """How the parameters that belong to the program were made, such as which average they are; kept in its file,
        where PaddlePaddle looks past it. What JSON has; assign another dict to change it."""
        try:
            facts = json.loads(self._other.get("provenance") or "{}")
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict):
            raise _core.ProgramError("the program's provenance is not a JSON object")
        return facts

    @provenance.setter
    def provenance(self, facts: Mapping[str, Any]) -> None:
        try:
            before_setting(self._other, "provenance")
            self._other["provenance"] = json.dumps(dict(facts), sort_keys=True) if facts else ""
        except (TypeError, ValueError) as error:
            raise _core.ProgramError(f"the provenance is no JSON object: {error}") from None
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
        return Program._from_description(_core.decode_program(bytes(data)))

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
        """A copy without the operators whose op_role has any of these bits, and without what only they name."""
        return self._copy(transform.without(self.describe(), left_out_roles))

    def only(self, kept_roles: int) -> Program:
        """A copy with just the operators whose op_role has any of these bits, and without what only others name."""
        return self._copy(transform.only(self.describe(), kept_roles))

    def prune(self, feeds: Sequence[Union[Variable, str]], fetches: Sequence[Union[Variable, str]]) -> Program:
        """A copy with only what computes `fetches` from `feeds`. ProgramError when a variable that
        is neither fed, nor persistable, nor computed is needed."""
        feed_names, fetch_names = ([name_of(var) for var in vars] for vars in (feeds, fetches))
        for name in feed_names + fetch_names:
            self.global_block().var(name)
        needed = dataflow.needed_ops(self.global_block(), feed_names, fetch_names)
        return self._copy(transform.pruned(self.describe(), needed, feed_names + fetch_names))

    def describe(self) -> Dict[str, Any]:
        """The program as lists, dicts and numbers; a description shares nothing with the program."""
        return {**self._other, "blocks": [block.describe() for block in self.blocks]}

    def _copy(self, description: Dict[str, Any]) -> Program:
        copy = Program._from_description(description)
        copy.random_seed, copy._seeds = self.random_seed, self._seeds
        copy._names = dict(self._names)
        copy.backward_count = self.backward_count
        copy.parameter_info = self.parameter_info
        copy.schedules = {name: rate for name, rate in self.schedules.items() if name in copy.blocks[0].vars}
        copy.minimizers = {name: one for name, one in self.minimizers.items() if one[1] in copy.blocks[0].vars}
        for parameter in copy.all_parameters():
            original = self.blocks[parameter.block.idx].vars.get(parameter.name)
            if isinstance(original, Parameter):
                parameter.copy_training(original)
        return copy

    @staticmethod
    def _from_description(description: Dict[str, Any]) -> Program:
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
        program.backward_count = int(any(
            op.attr("op_role", 0) & roles.BACKWARD for block in program.blocks for op in block.ops))
        program._names = unique_name.counters_after(var.name for var in program.list_vars())
        return program

    def __str__(self) -> str:
        return show.program_text(self)

    def __repr__(self) -> str:
        ops = sum(len(block.ops) for block in self.blocks)
        return f"<Program with {ops} operators, {len(self.all_parameters())} parameters>"
