# GradientMerge: one step of an optimizer for the gradients of several runs.
from __future__ import annotations

from typing import Any

from .. import dtypes
from .._core import ProgramError, printable
from ..averaging.averaged_parameter import average_dtype
from ..block import Block
from ..errors import shown
from ..guards import default_main_program
from ..initializer import Constant
from ..layers.emit import create_state
from ..lr.scheduler import whole
from ..operator import Operator
from ..program import Program
from ..roles import OPTIMIZE, op_role_guard
from ..variable import Parameter, Variable
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
        sums = [(parameter, self._sum(block, parameter, gradient)) for parameter, gradient in pairs]
        count = create_state(program.new_name("gradient_merge_step"), [1], "int64", 0)
        block.append_op("increment", {"X": count}, {"Out": count})
        block.append_op("greater_equal", {"X": count, "Y": self._constant("int64", [1])}, {"Out": updated})

        def reset_sums(sums: Pairs) -> None:
            for variable in [count, *(merged for _, merged in sums)]:
                Constant(0)(variable, program.current_block())

        return self.append_where(updated, sums, self._mean, reset_sums)

    def _sum(self, block: Block, parameter: Parameter, gradient: Variable) -> Variable:
        """Appends the addition of a gradient; of 16 bits in float32, as 256 + 1 is 256 in bfloat16."""
        dtype = average_dtype(parameter)
        merged = create_state(block.program.new_name(f"{parameter.name}_gradient_merge"), parameter.shape, dtype, 0.0)
        with op_role_guard(OPTIMIZE, [parameter, gradient]):
            if gradient.dtype != dtype:
                gradient = _cast(block, self._dense(block, parameter, gradient), dtype)
            block.append_op("sum", {"X": [merged, gradient]}, {"Out": merged})
        return merged

    def _dense(self, block: Block, parameter: Parameter, gradient: Variable) -> Variable:
        """The gradient as a tensor, which a cast takes."""
        if gradient.kind != dtypes.SELECTED_ROWS:
            return gradient
        dense = _like(block, parameter, parameter.dtype)
        Constant(0.0)(dense, block)
        block.append_op("sum", {"X": [dense, gradient]}, {"Out": dense})
        return dense

    def _mean(self, sums: Pairs) -> Pairs:
        """Divides: a factor in an attribute would be float32 for float64 gradients too. Returns the optimizer's pairs."""
        numbers: dict[str, Variable] = {}
        block = default_main_program().current_block()
        for parameter, merged in sums if self.avg else ():
            if merged.dtype not in numbers:
                numbers[merged.dtype] = self._constant(merged.dtype, [])
            with op_role_guard(OPTIMIZE, [parameter, merged]):
                block.append_op("elementwise_div", {"X": merged, "Y": numbers[merged.dtype]}, {"Out": merged})
        return [(one, merged if merged.dtype == one.dtype else _cast(block, merged, one.dtype)) for one, merged in sums]

    def _constant(self, dtype: str, shape: list[int]) -> Variable:
        block = default_main_program().current_block()
        k = block.create_var(block.program.new_name("gradient_merge_k"), dtype=dtype, shape=shape, stop_gradient=True)
        Constant(self.k_steps)(k, block)
        return k


def _cast(block: Block, x: Variable, dtype: str) -> Variable:
    out = _like(block, x, dtype)
    block.append_op("cast", {"X": x}, {"Out": out}, {"in_dtype": x.dtype, "out_dtype": dtype})
    return out


def _like(block: Block, x: Variable, dtype: str) -> Variable:
    return block.create_var(block.program.new_name(f"{x.name}.tmp"), dtype=dtype, shape=x.shape, stop_gradient=True)
