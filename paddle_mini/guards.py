# program_guard: sets the program and the startup program to which layer functions append.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ._core import ProgramError
from .program import Program
from .thread_state import ThreadState, setting, state


def _set_new_programs(now: ThreadState) -> None:
    now.main, now.startup = Program(), Program()
    now.names = now.main._names, now.startup._names


_set_new_programs(state())


def default_main_program() -> Program:
    """The program to which layer functions append now.

    Example:
        >>> y = pm.layers.relu(pm.layers.data("x", [-1, 8]))
        >>> len(pm.default_main_program().global_block().ops)
        1
    """
    return state().main


def default_startup_program() -> Program:
    """The program to which layer functions append the initializers of parameters now. Run it once
    before the main program.

    Example:
        >>> y = pm.layers.fc(pm.layers.data("x", [-1, 8]), 4)
        >>> pm.Executor().run(pm.default_startup_program())
        []
    """
    return state().startup


def is_default_program(program: Program) -> bool:
    """Whether this is the default main program outside program_guard."""
    return program is state().main and not state().guard_depth


def reset_default_programs() -> None:
    """Makes the default main program and the default startup program new, empty ones: at the top of a notebook's cell
    that builds a network, so that the cell can be run again. Values stay in the scopes until a startup program sets
    them. Raises ProgramError inside program_guard, whose programs are the caller's.

    Example:
        >>> pm.reset_default_programs()
        >>> y = pm.layers.fc(pm.layers.data("x", [-1, 8]), 4)
        >>> pm.default_main_program().all_parameters()[0].name
        'fc_0.w_0'
    """
    now = state()
    if now.guard_depth:
        raise ProgramError("reset_default_programs inside program_guard: give the guard new programs instead")
    _set_new_programs(now)


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Layer functions inside append to these programs; without a startup program, to the startup
    program of outside. In another thread than the main one they are so for this thread only: threads may build programs at
    the same time.

    main_program, startup_program: Programs; None for the latter: that of outside.
    Example:
        >>> main, startup = pm.Program(), pm.Program()
        >>> with pm.program_guard(main, startup):
        ...     y = pm.layers.fc(pm.layers.data("x", [-1, 8]), 4)
        >>> len(main.all_parameters())
        2
    """
    for program in (main_program, startup_program):
        if not isinstance(program, Program) and (program is not None or program is main_program):
            raise ProgramError(f"program_guard takes programs, not {type(program).__name__}")
    startup = state().startup if startup_program is None else startup_program
    names = main_program._names, startup._names
    with setting(main=main_program, startup=startup, names=names, guard_depth=state().guard_depth + 1):
        yield
