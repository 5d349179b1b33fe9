# Loops: operators that run a block again and again.
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import dtypes
from .._core import ProgramError, printable
from ..block import Block
from ..dataflow import outer_reads_and_writes
from ..variable import Variable
from .control_flow import inner_block, require_condition, step_scopes
from .emit import block, refuse
from .structure import flatten_structure, map_structure, require_same_structure, require_variables
from .tensor import assign


class While:
    """A loop over a block that changes outer variables.

    condition: one bool. is_test: keep nothing for a gradient. while_loop is the same with functions.
    Example:
        >>> i, n = pm.layers.zeros([1], "int64"), pm.layers.fill_constant([1], "int64", 3)
        >>> condition = i < n
        >>> loop = pm.layers.While(condition)
        >>> with loop.block():
        ...     _ = pm.layers.increment(i)
        ...     _ = pm.layers.assign(i < n, condition)  # a loop must assign to its condition
        >>> pm.Executor().run(fetch_list=[i])[0]
        array([3])
    """

    def __init__(self, condition: Variable, is_test: bool = False):
        require_condition("While", condition)
        self.condition = condition
        self.is_test = is_test

    @contextmanager
    def block(self) -> Iterator[Block]:
        """Operators appended inside form the block."""
        with inner_block(self._complete) as inside:
            yield inside

    def _complete(self, inside: Block) -> None:
        here = block()
        reads, writes = outer_reads_and_writes(inside)
        if self.condition.name not in writes:
            refuse(
                ProgramError,
                f"While: the block never writes its condition '{printable(self.condition.name)}', it would run for ever",
            )
        # Variables that the block writes are loop variables, which its gradient reads as well.
        given = [name for name in dict.fromkeys([*reads, *writes]) if name != self.condition.name]
        here.append_op(
            "while",
            {"X": given, "Condition": self.condition},
            {"Out": writes, "StepScopes": step_scopes(here)},
            {"sub_block": inside.idx, "is_test": self.is_test},
        )


def while_loop(
    cond: Callable[..., Variable],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> Any:
    """Runs body(*loop_vars), which returns the next loop_vars, while cond(*loop_vars) is true.

    cond: gives one bool. loop_vars: Variables, or lists, tuples and dicts of them; their shapes may
    change from step to step. Tensor arrays are changed by array_write and given back as they are.
    Returns the last loop_vars. The variables passed in stay as they are.
    Raises ProgramError if the results of body do not match its arguments.
    Example:
        >>> i, total = pm.layers.zeros([1], "int64"), pm.layers.zeros([1])
        >>> i, total = pm.layers.while_loop(lambda i, total: i < 4, lambda i, total: [i + 1, total + 0.5], [i, total])
        >>> pm.Executor().run(fetch_list=[total])[0]
        array([2.], dtype=float32)
    """
    if not callable(cond) or not callable(body):
        refuse(ProgramError, "while_loop: cond and body must be functions")
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        refuse(ProgramError, "while_loop: loop_vars must be a list of at least one Variable")
    require_variables("while_loop", "loop_vars", loop_vars)
    current = map_structure(lambda var: var if var.kind == dtypes.TENSOR_ARRAY else assign(var), list(loop_vars))
    condition = cond(*current)
    loop = While(condition, is_test=is_test)
    with loop.block():
        made = body(*current)
        following = list(made) if isinstance(made, (list, tuple)) else [made]
        require_same_structure("while_loop", "loop_vars and what body gives", current, following)
        require_variables("while_loop", "what body gives", following)
        _all_become(flatten_structure(current), condition, flatten_structure(following), cond(*following))
    return current


def _all_become(olds: list[Variable], condition: Variable, news: list[Variable], again: Variable) -> None:
    """Assigns the values of the next step, in order; what an assignment before it would overwrite is copied first."""
    *news, again = [
        assign(new) if any(new is old for old in olds[:i]) and new is not target else new
        for i, (new, target) in enumerate(zip([*news, again], [*olds, condition]))
    ]
    for new, old in zip(news, olds):
        _become(old, new)
    assign(again, condition)


def _become(old: Variable, new: Variable) -> None:
    if new is old:
        return
    if new.dtype != old.dtype or new.kind != old.kind:
        refuse(ProgramError, f"while_loop: '{printable(old.name)}' is {old.dtype}, body gives {new.dtype} for it")
    dims = [a if a == b else -1 for a, b in zip(old.shape, new.shape)] if len(old.shape) == len(new.shape) else None
    assign(new, old)
    if dims is not None:
        old.set_info({**old.info(), "shape": dims})
