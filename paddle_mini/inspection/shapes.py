# Shapes of a program's variables for one batch size.
from __future__ import annotations

from typing import Any

from .. import _core, dtypes
from .._core import ProgramError
from ..errors import shown
from ..operator import EMPTY_NAME, Operator
from ..program import Program
from .costs import Call, Value

Infos = dict[str, dict[str, Any]]


class SizedProgram:
    """The shapes of all variables when the first dimension of each data variable that is -1 is `batch`. Operators whose
    shapes depend on data keep -1."""

    def __init__(self, program: Program, batch: int):
        if not isinstance(program, Program):
            raise ProgramError(f"program is {shown(program)}, it must be a Program")
        self.program = program
        self._infos: list[Infos] = []
        for block in program.blocks:
            infos = self._declared(block, batch)
            self._infos.append(infos)
            for op in block.ops:
                self._infer(op, infos)

    def call(self, op: Operator) -> Call:
        """The operator with the shapes of its variables."""

        def values(ports: dict[str, list[str]]) -> dict[str, list[Value | None]]:
            return {port: [self.value(op, name) for name in names] for port, names in ports.items() if names}

        return Call(op.type, op.attrs, values(op.inputs), values(op.outputs))

    def value(self, op: Operator, name: str) -> Value | None:
        info = self._find(op.block, name)
        return None if info is None or info["kind"] not in (dtypes.TENSOR, dtypes.SELECTED_ROWS) else Value.of_info(info)

    def _declared(self, block: Any, batch: int) -> Infos:
        written = {name for op in block.ops for name in op.output_names}
        infos = {}
        for var in block.vars.values():
            info = var.info()
            is_data = var.need_check_feed or (not var.persistable and var.name not in written)
            if is_data and info["shape"][:1] == [-1]:
                info["shape"] = [batch, *info["shape"][1:]]
            infos[var.name] = info
        return infos

    def _infer(self, op: Operator, infos: Infos) -> None:
        description = op.describe()
        inputs = {name: self._find(op.block, name) for name in op.input_names}
        try:
            _, outputs = _core.check_op(description, {name: info for name, info in inputs.items() if info is not None})
        except _core.Error:  # an operator of another build, or a shape that this batch size does not fit: as declared
            return
        for name, info in outputs.items():
            if name != EMPTY_NAME:
                infos[name] = info

    def _find(self, block: Any, name: str) -> dict[str, Any] | None:
        while True:
            for index in (block.idx, block.forward_block_idx):
                if 0 <= index < len(self._infos) and name in self._infos[index]:
                    return self._infos[index][name]
            if block.parent_idx < 0:
                return None
            block = self.program.blocks[block.parent_idx]
