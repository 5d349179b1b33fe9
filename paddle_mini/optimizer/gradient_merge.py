# GradientMerge: one step of an optimizer for the gradients of several runs.
from __future__ import annotations

from typing import Any

from .. import dtypes
from .._core import ProgramError, printable
from ..errors import shown
from ..guards import default_main_program
from ..initializer import Constant
from ..layers.emit import create_state
from ..lr.scheduler import whole
from ..operator import Operator
from ..program import Program
from ..roles import OPTIMIZE, op_role_guard
from ..variable import Variable
from .pairs import Pairs
from .wrapper import Wrapper, chain, is_level_o2


class GradientMerge(Wrapper):
    """Adds up the gradients of k_steps runs, and then takes one step of the optimizer: a batch that is
    k_steps times as large, in the memory of one.

    optimizer: any, with its clipping and regularization, which see the merged gradient. k_steps: runs
    for one step. avg: the step takes the mean of the gradients, as a large batch's mean loss gives; else
    their sum. `updated`, after minimize: a variable, bool [1]: whether this run took the step.

    In the other runs parameters and what the optimizer keeps stay the same bits. The sums and the count
    are persistable. Sums are dense, as large as the parameter, also where gradients are sparse.
    Schedules that are in the program count runs, not steps.
    Raises ProgramError for a sparse gradient when the optimizer would leave rows alone that a dense one
    changes: Adam with lazy_mode, Ftrl, and Adagrad with epsilon and beginning 0.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.GradientMerge(pm.optimizer.SGD(0.1), k_steps=2).minimize(w)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> [round(float(exe.run(fetch_list=[w])[0][0]), 3) for run in range(4)]
        [1.0, 0.9, 0.9, 0.8]
    """

    def __init__(self, optimizer: Any, k_steps: int = 1, avg: bool = True):
        super().__init__(optimizer)
        if is_level_o2(optimizer):
            raise ProgramError(
                "GradientMerge around level O2 would add up gradients of 16 bits: give the GradientMerge to decorate"
            )
        self.k_steps = whole(self, "k_steps", k_steps)
        if not isinstance(avg, bool):
            raise ProgramError(f"GradientMerge: avg is {shown(avg)}, it must be True or False")
        self.avg = avg

    def check(self, program: Program, pairs: Pairs) -> None:
        super().check(program, pairs)
        innermost = chain(self.optimizer)[-1]
        sparse = next((parameter for parameter, grad in pairs if grad.kind == dtypes.SELECTED_ROWS), None)
        if self.k_steps > 1 and sparse is not None and getattr(innermost, "needs_rows", False):
            raise ProgramError(
                f"GradientMerge adds the sparse gradients of '{printable(sparse.name)}' up to a dense one, by "
                f"which {type(innermost).__name__} would change rows that they do not name; make the "
                "embedding with is_sparse=False if that is wanted"
            )

    def append(self, pairs: Pairs, updated: Variable) -> list[Operator]:
        program = default_main_program()
        block = program.current_block()
        if self.k_steps == 1:  # the sum of one gradient is the gradient
            Constant(True)(updated, block)
            return self.append_optimizer(pairs, updated)
        sums = [
            (parameter, create_state(program.new_name(f"{parameter.name}_gradient_merge"), parameter.shape, parameter.dtype, 0.0))
            for parameter, _ in pairs
        ]
        for (parameter, gradient), (_, merged) in zip(pairs, sums):
            with op_role_guard(OPTIMIZE, [parameter, gradient]):
                block.append_op("sum", {"X": [merged, gradient]}, {"Out": merged})
        count = create_state(program.new_name("gradient_merge_step"), [1], "int64", 0)
        block.append_op("increment", {"X": count}, {"Out": count})
        block.append_op("greater_equal", {"X": count, "Y": self._constant("int64", [1])}, {"Out": updated})

        def reset_sums(sums: Pairs) -> None:
            for variable in [count, *(merged for _, merged in sums)]:
                Constant(0)(variable, program.current_block())

        return self.append_where(updated, sums, self._mean, reset_sums)

    def _mean(self, sums: Pairs) -> None:
        """Divides: a factor in an attribute would be float32 for float64 gradients too."""
        numbers: dict[str, Variable] = {}
        block = default_main_program().current_block()
        for parameter, merged in sums if self.avg else ():
            if merged.dtype not in numbers:
                numbers[merged.dtype] = self._constant(merged.dtype, [])
            with op_role_guard(OPTIMIZE, [parameter, merged]):
                block.append_op("elementwise_div", {"X": merged, "Y": numbers[merged.dtype]}, {"Out": merged})

    def _constant(self, dtype: str, shape: list[int]) -> Variable:
        block = default_main_program().current_block()
        k = block.create_var(block.program.new_name("gradient_merge_k"), dtype=dtype, shape=shape, stop_gradient=True)
        Constant(self.k_steps)(k, block)
        return k
