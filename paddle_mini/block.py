# Block: operators and the variables they name; layer functions append to it.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from . import _core, callsite, dtypes, roles
from ._core import check_variable_name, printable
from .errors import located, near, shown
from .operator import EMPTY_NAME, Operator, slots
from .renamed import answers_names
from .schemas import typed_attrs
from .transaction import before_growing, before_setting, on_undo
from .variable import Parameter, Variable

if TYPE_CHECKING:
    from .program import Program


@answers_names
class Block:
    """Operators in the order they run, and the variables they name. Inner blocks, of loops and
    branches, see the variables of their parents.

    program, index, parent_index: the program, the position of the block in it, and that of the block around it, -1 for the
    first one. Program.create_block makes blocks.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> block = pm.default_main_program().global_block()
        >>> y = pm.layers.relu(x)
        >>> [op.type for op in block.ops], block.var("x").shape
        (['relu'], (-1, 8))
    """

    def __init__(self, program: Program, index: int, parent_index: int = -1):
        self.program = program
        self.idx = index
        self.parent_idx = parent_index
        self.forward_block_idx = -1
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []
        self._other: dict[str, Any] = {}

    def has_var(self, name: str) -> bool:
        """Whether this block, not a parent, has the variable."""
        return name in self.vars

    def find_var(self, name: str) -> Variable | None:
        """The variable of this block, its forward block or one around it."""
        block: Block | None = self
        while block is not None:
            if name in block.vars:
                return block.vars[name]
            if block.forward_block_idx >= 0 and name in self.program.blocks[block.forward_block_idx].vars:
                return self.program.blocks[block.forward_block_idx].vars[name]
            block = self.program.blocks[block.parent_idx] if block.parent_idx >= 0 else None
        return None

    def var(self, name: str) -> Variable:
        """Like find_var; ProgramError with the most similar name if no such variable exists."""
        if not isinstance(name, str):
            raise _core.ProgramError(f"the name of a variable is {shown(name)}, it must be a string")
        found = self.find_var(name)
        if found is None:
            raise _core.ProgramError(f"block {self.idx} has no variable '{printable(name)}'{near(name, self.vars)}")
        return found

    def create_var(self, name: str | None = None, **facts: Any) -> Variable:
        """A new variable; facts are those of Variable: dtype, shape, persistable, …"""
        if name is None:
            name = self.program.new_name("tmp")
        check_variable_name(name)
        if name in self.vars:
            raise _core.ProgramError(f"block {self.idx} already has a variable '{printable(name)}'")
        if "dtype" in facts:
            facts["dtype"] = dtypes.dtype_name(facts["dtype"])
        if facts.get("shape") is not None:
            facts["shape"] = dtypes.shape_list(facts["shape"])
        return self._add_var(Variable(self, name, **facts))

    def create_parameter(self, name: str, shape: Sequence[int], dtype: Any = "float32", **facts: Any) -> Parameter:
        """A new parameter; facts are those of Parameter: trainable, learning_rate, …"""
        check_variable_name(name)
        dims = dtypes.shape_list(shape)
        if any(dim < 0 for dim in dims):
            raise _core.ShapeError(f"parameter '{printable(name)}' has shape {dims}: its dimensions must be known")
        if name in self.vars:
            raise _core.ProgramError(f"block {self.idx} already has a variable '{printable(name)}'")
        parameter = Parameter(self, name, dtypes.dtype_name(dtype), dims, **facts)
        self._add_var(parameter)
        return parameter

    def append_op(
        self,
        type: str,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Operator:
        """Adds an operator at the end.

        Ports take variables, names or lists of them. The operator is validated against its schema, and
        `infer` gives shape and dtype of the outputs; variables that are not there are made.
        Raises ProgramError or ShapeError, ending at the user's line.
        """
        return self.insert_op(len(self.ops), type, inputs, outputs, attrs)

    def insert_op(
        self,
        index: int,
        type: str,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Operator:
        """Like append_op, before the operator at `index`."""
        all_attrs = {**roles.current(), **(attrs or {})}
        if "op_callstack" not in all_attrs:
            all_attrs["op_callstack"] = callsite.user_callstack()
        description: dict[str, Any] = {"type": type, "inputs": slots(inputs or {}), "outputs": slots(outputs or {})}
        try:
            description["attrs"] = typed_attrs(type, all_attrs)
            attrs_found, infos = _core.check_op(description, self._infos(description["inputs"]))
            self._check_persistables(infos)
        except _core.Error as error:
            raise located(error, description, all_attrs["op_callstack"]) from error.__cause__
        description["attrs"] = attrs_found
        for name, info in infos.items():
            self._set_info(name, info)
        op = Operator(self, description)
        self._put_op(index, op)
        self.program.changed()
        return op

    def prepend_op(
        self,
        type: str,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Operator:
        """Like append_op, before all other operators."""
        return self.insert_op(0, type, inputs, outputs, attrs)

    def remove_op(self, index: int) -> None:
        """Removes the operator at `index`; its variables stay."""
        op = self.ops[index]
        before_growing(self.ops)
        on_undo(partial(self.ops.insert, index if index >= 0 else len(self.ops) + index, op))
        del self.ops[index]
        self.program.changed()

    def _infos(self, inputs: Any) -> dict[str, dict[str, Any]]:
        infos = {}
        for port, names in inputs:
            for name in names:
                if name == EMPTY_NAME:
                    continue
                if not isinstance(name, str):
                    raise _core.ProgramError(f"input {port} is {shown(name)}, not a variable")
                infos[name] = self.var(name).info()
        return infos

    def _check_persistables(self, infos: Mapping[str, Mapping[str, Any]]) -> None:
        for name, info in infos.items():
            var = self.find_var(name)
            if var is None or not var.persistable or not var.shape_known:
                continue
            agree = len(info["shape"]) == len(var.shape) and all(
                a == b or a < 0 or b < 0 for a, b in zip(info["shape"], var.shape)
            )
            if info["dtype"] != var.dtype or not agree:
                raise _core.ShapeError(
                    f"output would be {info['shape']} {info['dtype']}, but "
                    f"'{printable(name)}' is {list(var.shape)} {var.dtype} and persistable"
                )

    def _set_info(self, name: str, info: dict[str, Any]) -> None:
        var = self.find_var(name)
        if var is None:
            self._add_var(Variable.from_info(self, name, info))
        elif not (var.persistable and var.shape_known):
            var.set_info(info)

    def _put_op(self, index: int, op: Operator) -> None:
        before_growing(self.ops)  # also if it grows in the middle: a later append would record another length than the first
        if index < len(self.ops):
            on_undo(partial(self.ops.__delitem__, index if index >= 0 else max(len(self.ops) + index, 0)))
        self.ops.insert(index, op)

    def _add_var(self, var: Variable) -> Variable:
        before_setting(self.vars, var.name)
        self.vars[var.name] = var
        self.program.changed()
        return var

    def describe(self) -> dict[str, Any]:
        """The block as the bindings read it: a dict with its operators and variables."""
        return {
            "unknown": b"",
            **self._other,
            "idx": self.idx,
            "parent_idx": self.parent_idx,
            "forward_block_idx": self.forward_block_idx,
            "vars": [var.describe() for var in self.vars.values()],
            "ops": [op.describe() for op in self.ops],
        }
