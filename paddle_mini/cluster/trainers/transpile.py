# transpile: splits a single-machine training program into the trainer's program and the servers' optimizers.
from __future__ import annotations

from typing import Any, NamedTuple

from ... import dtypes
from ..._core import ProgramError, printable
from ...callsite import added_at
from ...operator import Operator
from ...optimizer.native import takes_norms
from ...program import Program
from ...roles import LR_SCHEDULE, OPTIMIZE
from ...variable import Parameter, Variable

# Operators that change only shape or type.
_SAME_NUMBERS = frozenset(
    ("assign", "cast", "flatten2", "flatten_contiguous_range", "reshape", "reshape2", "squeeze2", "unsqueeze2")
)
_LOOKUPS = frozenset(("lookup_table", "lookup_table_v2"))


class Trained(NamedTuple):
    """A parameter that servers train.

    dtype: "float32" or "float64". gradient: the variable that a trainer fetches and pushes: selected rows when sparse,
    else of the parameter's shape; neither clipped nor regularized. config: an OptimizerConfig. whole: the optimizer
    needs the whole parameter or gradient, so one server must hold all of it. ids: feeds that together contain the index
    of every row that a run reads; None: the run may read any row, so a trainer needs all of them.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    gradient: str
    sparse: bool
    whole: bool
    config: Any
    ids: frozenset[str] | None


class Transpiled(NamedTuple):
    """program: the trainer's program, forward and backward. trained: sorted by name. frozen: constant persistable
    variables, with the same values on all trainers. buffers: persistable variables that the program itself changes,
    such as batch normalization's statistics; local to each trainer. left_out: variables that only the optimizer has."""

    program: Program
    trained: list[Trained]
    frozen: list[str]
    buffers: list[str]
    left_out: frozenset[str]


def transpile(main: Program) -> Transpiled:
    """Splits a program on which minimize was called; the program itself is not changed.

    ProgramError, with the line that added the operator, for an optimizer that needs more than one parameter and its
    gradient (see Minimizer.to_config), and for a model that reads a variable which only its optimizer computes.
    """
    if not isinstance(main, Program):
        raise ProgramError(f"transpile takes a Program, not {type(main).__name__}")
    program = main.without(OPTIMIZE | LR_SCHEDULE)
    trained = [_trained(main, program, name) for name in sorted(main.minimizers)]
    _require_known(main)
    _require_complete(main, program)
    persistable = {var.name for var in program.list_vars() if var.persistable} - main.minimizers.keys()
    written = written_names(program)
    left_out = frozenset(main.global_block().vars) - frozenset(program.global_block().vars)
    return Transpiled(program, trained, sorted(persistable - written), sorted(persistable & written), left_out)


def require_trained(main: Program) -> None:
    """ProgramError where minimize() was not called."""
    if not main.minimizers:
        raise ProgramError("no optimizer changes a parameter of this program: call minimize() first")


def _require_known(main: Program) -> None:
    changed = {name: op for op in _optimizing(main) for name in op.output("ParamOut")}
    missing = sorted(changed.keys() - main.minimizers.keys())
    if missing:  # the operators were read from a file, or appended by hand
        raise ProgramError(
            f"the program does not record which optimizer changes '{printable(missing[0])}': pass the program on "
            f"which minimize() was called, not one made from its bytes{added_at(changed[missing[0]].callstack)}"
        )
    require_trained(main)


def _require_complete(main: Program, program: Program) -> None:
    """ProgramError if a remaining operator reads a variable that only removed operators write."""
    gone = written_names(main) - written_names(program) - main.minimizers.keys()
    for op in _ops(program):
        lost = next((name for name in op.input_names if name in gone), None)
        if lost is not None:
            raise ProgramError(
                f"{op.type} reads '{lost}', which the optimizer or its learning-rate schedule computes: "
                f"in a cluster the servers compute it, and trainers do not have it{added_at(op.callstack)}"
            )


def _trained(main: Program, program: Program, name: str) -> Trained:
    minimizer, (parameter, gradient) = main.minimizers[name][0], parameter_and_gradient(main, name)
    where = optimized_at(main, name)
    require_float(main, parameter)
    try:
        config = minimizer.to_config(parameter)
    except ProgramError as error:
        raise ProgramError(
            f"servers can't train '{printable(name)}' as this program does (in modes delta, elastic and collective trainers "
            f"optimize): {error}{where}"
        ) from None
    sparse = gradient.kind == dtypes.SELECTED_ROWS
    return Trained(
        name,
        parameter.shape,
        parameter.dtype,
        gradient.name,
        sparse,
        config.HasField("clip_norm") or takes_norms(config),
        config,
        row_feeds(program, name) if sparse else None,
    )


def require_float(main: Program, parameter: Parameter) -> None:
    """ProgramError for a type that servers don't have."""
    if parameter.dtype not in ("float32", "float64"):
        advice = "; level O1 of mixed precision leaves it float32" if parameter.dtype in ("float16", "bfloat16") else ""
        raise ProgramError(
            f"servers train float32 and float64, '{printable(parameter.name)}' is {parameter.dtype}{advice}"
            f"{optimized_at(main, parameter.name)}"
        )


def parameter_and_gradient(main: Program, name: str) -> tuple[Parameter, Variable]:
    """A parameter and its gradient; ProgramError unless both are variables of the global block."""
    block, gradient_name = main.global_block(), main.minimizers[name][1]
    parameter, gradient = block.var(name), block.find_var(gradient_name)
    if not isinstance(parameter, Parameter) or gradient is None:
        raise ProgramError(
            f"'{printable(name)}' and its gradient '{printable(gradient_name)}' must be variables of the global block"
            f"{optimized_at(main, name)}"
        )
    return parameter, gradient


def optimized_at(main: Program, name: str) -> str:
    """The end of a message: the line that added the operator that changes a parameter."""
    return next((added_at(op.callstack) for op in _optimizing(main) if name in op.output_names), "")


def row_feeds(program: Program, table: str) -> frozenset[str] | None:
    """The feeds that contain the index of every row of a table that a run reads, directly or in another shape or type;
    None if another operator reads the table, or an index is computed."""
    writers: dict[str, list[Operator]] = {}
    for op in _ops(program):
        for output in op.output_names:
            writers.setdefault(output, []).append(op)
    feeds = set()
    for op in _ops(program):
        if table not in op.input_names:
            continue
        if op.type.removesuffix("_grad") not in _LOOKUPS:
            return None
        name: str | None = op.input("Ids")[0]
        seen = set()
        while name in writers and name not in seen:
            seen.add(name)
            name = _source(writers[name])
        if name is None or name in seen or op.block.var(name).persistable:
            return None
        feeds.add(name)
    return frozenset(feeds)


def _source(writers: list[Operator]) -> str | None:
    """The variable from which this one is copied; None if it is computed."""
    op = writers[0]
    return op.input("X")[0] if len(writers) == 1 and op.type in _SAME_NUMBERS else None


def written_names(program: Program) -> set[str]:
    """The variables that operators of a program write."""
    return {name for op in _ops(program) for name in op.output_names}


def _optimizing(main: Program) -> list[Operator]:
    return [op for op in _ops(main) if op.attr("op_role", 0) & OPTIMIZE]


def _ops(program: Program) -> list[Operator]:
    return [op for block in program.blocks for op in block.ops]
