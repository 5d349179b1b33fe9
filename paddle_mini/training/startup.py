# The run of a startup program.
from __future__ import annotations

from .._core import Scope
from ..amp.parameters import cast_parameters
from ..executor import Executor
from ..feeds import bfloat16_values
from ..program import Program


def run_startup(startup: Program, main: Program, exe: Executor, scope: Scope, only_missing: bool) -> None:
    """Gives the variables of main their initial values. only_missing: only those without a value; what is made from others, such
    as averages and masters, is made from the values that these have."""
    if only_missing:
        _make_masters(main, scope)
        declared = startup.global_block().vars
        names = [var.name for var in main.list_vars() if var.persistable and var.name in declared]
        missing = [name for name in names if name not in scope]
        if not missing:
            return
        startup = startup.prune([name for name in names if name in scope], missing)
    exe.run(startup, scope=scope)


def _make_masters(main: Program, scope: Scope) -> None:
    """Gives masters of level O2 that have no value those of their parameters, which may be float32 yet, and rounds these."""
    for master in main.all_parameters():
        rounded = master.rounded
        if rounded is not None and rounded.name in scope and master.name not in scope:
            scope.set(master.name, bfloat16_values(scope.get(rounded.name)).astype("float32"))
    cast_parameters(main, scope)
