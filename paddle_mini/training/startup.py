# The run of a startup program.
from __future__ import annotations

from .._core import Scope
from ..executor import Executor
from ..program import Program


def run_startup(startup: Program, main: Program, exe: Executor, scope: Scope, only_missing: bool) -> None:
    """Gives the variables of main their initial values. only_missing: only those without a value."""
    if only_missing:
        declared = startup.global_block().vars
        variables = (var.name for var in main.list_vars() if var.persistable)
        without = [name for name in variables if name not in scope and name in declared]
        if not without:
            return
        startup = startup.prune([], without)
    exe.run(startup, scope=scope)
