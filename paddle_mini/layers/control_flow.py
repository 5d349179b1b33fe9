# Blocks inside a program, and branches: the operators that run a block where a condition holds.
from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import dtypes
from .._core import ProgramError
from ..arithmetic import is_truth
from ..block import Block
from ..dataflow import outer_reads_and_writes
from ..errors import shown
from ..guards import default_main_program
from ..transaction import transaction
from ..variable import Variable
from .emit import block, emit, layer_name, refuse, require_variable
from .fill import fill_constant
from .structure import map_structure, require_same_structure, require_variables
from .tensor import assign, cast


@contextmanager
def inner_block(complete: Callable[[Block], None]) -> Iterator[Block]:
    """Inside, operators are appended to a new block of the program; complete(block) then appends the operator that runs
    it to the block around. An exception on the way takes back all of it."""
    program = default_main_program()
    with transaction():
        inside = program.create_block()
        try:
            yield inside
        finally:
            program.rollback()
        complete(inside)


def step_scopes(here: Block) -> Variable:
    return here.create_var(default_main_program().new_name("step_scopes"), kind=dtypes.STEP_SCOPES)


def require_condition(layer: str, condition: Variable) -> None:
    require_variable(layer, condition)
    one = all(dim in (1, -1) for dim in condition.shape)
    if condition.dtype != "bool" or not one:
        refuse(ProgramError, f"{layer}: the condition is {condition.dtype} {list(condition.shape)}, it must be one bool")


class ConditionalBlock:
    """A block that runs if a condition holds. condition: one bool.

    Example:
        >>> loss, worst = pm.layers.fill_constant([1], "float32", 2.0), pm.layers.zeros([1])
        >>> branch = pm.layers.ConditionalBlock(loss > worst)
        >>> with branch.block():
        ...     _ = pm.layers.assign(loss, worst)
        >>> pm.Executor().run(fetch_list=[worst])[0]
        array([2.], dtype=float32)
    """

    def __init__(self, condition: Variable):
        require_condition("ConditionalBlock", condition)
        self.condition = condition

    @contextmanager
    def block(self) -> Iterator[Block]:
        """Operators appended inside form the block."""
        with inner_block(self._complete) as inside:
            yield inside

    def _complete(self, inside: Block) -> None:
        here = block()
        reads, writes = outer_reads_and_writes(inside)
        # If the condition is false, variables keep the values and gradients that they had before the block.
        before = _names_with_values(here)
        reads = list(dict.fromkeys([*reads, *(name for name in writes if name in before)]))
        here.append_op(
            "conditional_block",
            {"Cond": self.condition, "Input": reads},
            {"Out": writes, "Scope": step_scopes(here)},
            {"sub_block": inside.idx, "is_scalar_condition": True},
        )


def _names_with_values(here: Block) -> set[str]:
    """The variables of a block, and of those around it, that have a value where its next operator will stand."""
    around = [here]
    while around[-1].parent_idx >= 0:
        around.append(here.program.blocks[around[-1].parent_idx])
    made = {name for one in around for op in one.ops for name in op.output_names}
    return made.union(var.name for one in around for var in one.vars.values() if var.need_check_feed)


def cond(
    pred: Variable, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: str | None = None
) -> Any:
    """The result of true_fn() if pred is true, else of false_fn(); only that one runs.

    pred: one bool. Both functions give Variables nested alike, of the same dtypes, or None.
    Raises ProgramError when they do not.
    true_fn, false_fn: functions without arguments; None: nothing. Returns Variables nested as those of the functions.
    Example:
        >>> x = pm.layers.data("x", [-1, 2])
        >>> y = pm.layers.cond(pm.layers.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0)
        >>> pm.Executor().run(feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])[0]
        array([[2., 2.]], dtype=float32)
    """
    require_condition("cond", pred)
    name = layer_name("cond", name)
    given = [_branch(pred, true_fn, name), _branch(emit("logical_not", {"X": pred}), false_fn, name)]
    require_same_structure("cond", "the results of true_fn and false_fn", *given)
    if given[0] is None:
        return None
    which = cast(pred, "int32")
    return map_structure(lambda yes, no: _select(which, yes, no, name), *given)


def _branch(condition: Variable, function: Callable[[], Any] | None, name: str) -> Any:
    if function is None:
        return None
    if not callable(function):
        refuse(ProgramError, f"cond: {shown(function)} is not callable")
    here = block()
    with ConditionalBlock(condition).block():
        results = function()
        if results is None:
            return None
        require_variables("cond", "what a branch gives", results)
        return map_structure(lambda var: _outside(here, var, name), results)


def _outside(here: Block, var: Variable, name: str) -> Variable:
    """A variable of the outer block, to which the branch assigns the value of `var`."""
    outer = here.create_var(
        default_main_program().new_name(f"{name}.out"), dtype=var.dtype, shape=var.shape, kind=var.kind, lod_level=var.lod_level
    )
    return assign(var, outer)


def _select(which: Variable, yes: Variable, no: Variable, name: str) -> Variable:
    if yes.dtype != no.dtype or yes.kind != no.kind:
        refuse(ProgramError, f"cond: one branch gives {yes.dtype}, the other {no.dtype}")
    dims = [a if a == b else -1 for a, b in zip(yes.shape, no.shape)]
    out = block().create_var(
        default_main_program().new_name(f"{name}.tmp"),
        dtype=yes.dtype,
        kind=yes.kind,
        shape=dims if len(yes.shape) == len(no.shape) else yes.shape,
        lod_level=yes.lod_level,
    )
    return emit("select_input", {"X": [no, yes], "Mask": which}, outputs={"Out": out})


def case(
    pred_fn_pairs: Sequence[tuple[Variable, Callable[[], Any]]], default: Callable[[], Any] | None = None, name: str | None = None
) -> Any:
    """The result of the function of the first pred that is true; else of default(), or of the last function.

    pred_fn_pairs: pairs of a variable, one bool, and a function without arguments.
    Returns what that function returns.
    Example:
        >>> step = pm.layers.data("step", [1], "int64")
        >>> rate = pm.layers.case(
        ...     [(step < 100, lambda: pm.layers.fill_constant([1], "float32", 0.1))],
        ...     default=lambda: pm.layers.fill_constant([1], "float32", 0.01))
        >>> pm.Executor().run(feed={"step": np.array([500])}, fetch_list=[rate])[0]
        array([0.01], dtype=float32)
    """
    pairs = list(pred_fn_pairs) if isinstance(pred_fn_pairs, (list, tuple)) else []
    if not pairs or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 and callable(pair[1]) for pair in pairs):
        refuse(ProgramError, "case: pred_fn_pairs must be a list of (bool Variable, function)")
    if default is None:
        default = pairs.pop()[1]
    if not callable(default):
        refuse(ProgramError, f"case: default is {shown(default)}, it must be a function")
    result = default
    for pred, function in reversed(pairs):
        result = _chosen(pred, function, result, name)
    return result()


def _chosen(pred: Variable, function: Callable[[], Any], other: Callable[[], Any], name: str | None) -> Callable[[], Any]:
    return lambda: cond(pred, function, other, name)


def switch_case(
    branch_index: Variable, branch_fns: Any, default: Callable[[], Any] | None = None, name: str | None = None
) -> Any:
    """The result of branch_fns[branch_index](); of default(), or the function of the largest index, for an
    index that is not there.

    branch_index: one int32 or int64. branch_fns: a dict {index: function}, a list of (index, function)
    or a list of functions. Returns what that function returns.
    Example:
        >>> index, x = pm.layers.data("index", [1], "int64"), pm.layers.ones([2])
        >>> y = pm.layers.switch_case(index, {0: lambda: x * 2.0, 7: lambda: x * 3.0}, default=lambda: x * 0.0)
        >>> pm.Executor().run(feed={"index": np.array([7])}, fetch_list=[y])[0]
        array([3., 3.], dtype=float32)
    """
    require_variable("switch_case", branch_index)
    if branch_index.dtype not in dtypes.INTEGER_NAMES:
        refuse(ProgramError, f"switch_case: branch_index is {branch_index.dtype}, it must be an integer: cast it")
    functions = list(branch_fns.items()) if isinstance(branch_fns, dict) else _numbered(branch_fns)
    if not functions or not all(map(_is_numbered_function, functions)):
        refuse(ProgramError, f"switch_case: branch_fns is {shown(branch_fns)}, it must hold functions, with integers or in order")
    ordered = sorted(functions, key=lambda pair: pair[0])
    if len({index for index, _ in ordered}) != len(ordered):
        refuse(ProgramError, "switch_case: an index is there twice")
    pairs = [
        (emit("equal", {"X": branch_index, "Y": fill_constant([1], branch_index.dtype, index)}), function)
        for index, function in ordered
    ]
    return case(pairs, default, name)


def _numbered(branch_fns: Any) -> list[Any]:
    given = branch_fns if isinstance(branch_fns, (list, tuple)) else []
    return [item if isinstance(item, (list, tuple)) else (i, item) for i, item in enumerate(given)]


def _is_numbered_function(pair: Any) -> bool:
    return len(pair) == 2 and isinstance(pair[0], numbers.Integral) and not is_truth(pair[0]) and callable(pair[1])
