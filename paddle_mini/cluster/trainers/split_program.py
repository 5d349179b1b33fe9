# split_program: splits a training program into the model and the optimizer, for collective mode.
from __future__ import annotations

from typing import NamedTuple

from ... import dtypes
from ..._core import ProgramError, printable
from ...callsite import added_at
from ...optimizer.loss_scaling import LossScaling
from ...optimizer.wrapper import chain
from ...program import Program
from ...roles import LR_SCHEDULE, OPTIMIZE
from ...variable import Variable
from .transpile import optimized_at, parameter_and_gradient, require_trained, written_names


class SplitProgram(NamedTuple):
    """model: forward and backward. optimizing: clipping, regularization, optimizer, averages, schedules. gradients: the
    variables between the two, by the parameters' names. scales: whether loss scaling handles gradients that are not
    finite. changed: persistable variables that `optimizing` changes; late: others that only it has."""

    model: Program
    optimizing: Program
    gradients: dict[str, Variable]
    scales: bool
    changed: set[str]
    late: set[str]


def split_program(main: Program) -> SplitProgram:
    """Splits a program on which minimize was called; the program itself is not changed. ProgramError if one half reads
    a variable of the other that is neither a gradient nor persistable, and for sparse gradients."""
    require_trained(main)
    model, optimizing = main.without(OPTIMIZE | LR_SCHEDULE), main.only(OPTIMIZE | LR_SCHEDULE)
    gradients = {name: _gradient(main, name) for name in sorted(main.minimizers)}
    fed = {gradient.name for gradient in gradients.values()}
    early, late = written_names(model), written_names(optimizing)
    for half, missing in ((model, late - early - fed), (optimizing, early - late - fed)):
        kept = {var.name for var in half.list_vars() if var.persistable}
        for op in (op for block in half.blocks for op in block.ops):
            name = next((name for name in op.input_names if name in missing - kept), None)
            if name is not None:
                raise ProgramError(
                    f"{op.type} reads '{printable(name)}': in collective mode, variables that model and optimizer share "
                    f"must be persistable, or gradients{added_at(op.callstack)}"
                )
    scales = any(isinstance(one, LossScaling) for minimizer, _ in main.minimizers.values() for one in chain(minimizer))
    changed = late & {var.name for var in optimizing.list_vars() if var.persistable}
    only_late = set(optimizing.global_block().vars) - set(model.global_block().vars) - changed
    return SplitProgram(model, optimizing, gradients, scales, changed, only_late)


def _gradient(main: Program, name: str) -> Variable:
    _, gradient = parameter_and_gradient(main, name)
    where = optimized_at(main, name)
    if gradient.kind == dtypes.SELECTED_ROWS:
        raise ProgramError(
            f"'{printable(name)}' is a table with a sparse gradient: collective mode adds up dense ones; make the "
            f"embedding with is_sparse=False, or take mode async or sync{where}"
        )
    if gradient.dtype not in ("float32", "float64"):
        raise ProgramError(
            f"collective mode adds up float32 and float64, the gradient of '{printable(name)}' is {gradient.dtype}{where}"
        )
    return gradient
