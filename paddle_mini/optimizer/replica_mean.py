# ReplicaMean: an optimizer that sees the mean of the gradients of several replicas.
from __future__ import annotations

from typing import Any

from .. import dtypes
from .._core import ProgramError, printable
from ..guards import default_main_program
from ..initializer import Constant
from ..operator import Operator
from ..program import Program
from ..roles import OPTIMIZE, op_role_guard
from ..variable import Variable
from .pairs import Pairs, by_name
from .wrapper import OptimizerWrapper


class ReplicaMean(OptimizerWrapper):
    """The wrapper of DataParallel.wrap: replaces gradients by their mean over `count` replicas, in place."""

    sums_replicas = True

    def __init__(self, optimizer: Any, count: int):
        super().__init__(optimizer)
        self.count = count

    def check(self, program: Program, pairs: Pairs) -> None:
        sparse = next((parameter for parameter, gradient in pairs if gradient.kind == dtypes.SELECTED_ROWS), None)
        if sparse is not None:
            raise ProgramError(
                f"DataParallel adds up dense gradients, that of '{printable(sparse.name)}' is sparse; make the "
                "embedding with is_sparse=False"
            )
        if program.current_block() is not program.global_block():
            raise ProgramError("DataParallel adds up gradients in the global block only, where all replicas come by")

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """Appends the sums, and the optimizer's operators, which are returned."""
        program = default_main_program()
        pairs = by_name(params_grads)
        self.check_all(program, pairs)
        block = program.current_block()
        counts: dict[str, Variable] = {}  # a factor in an attribute would be float32 for float64 gradients too
        for parameter, gradient in pairs:
            with op_role_guard(OPTIMIZE, [parameter, gradient]):
                if gradient.dtype not in counts:
                    name = program.new_name("replicas")
                    counts[gradient.dtype] = block.create_var(name, dtype=gradient.dtype, shape=[], stop_gradient=True)
                    Constant(self.count)(counts[gradient.dtype], block)
                block.append_op("elementwise_div", {"X": gradient, "Y": counts[gradient.dtype]}, {"Out": gradient})
                block.append_op("c_allreduce_sum", {"X": gradient}, {"Out": gradient})
        ops = self.optimizer.apply_gradients(params_grads)
        self.note(params_grads)
        return ops
