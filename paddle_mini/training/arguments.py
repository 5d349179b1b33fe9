# Checks of the arguments of Trainer and fit, before anything changes.
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import roles
from .._core import ProgramError, printable
from ..data.reader import require_positive
from ..errors import listed, shown
from ..program import Program
from ..variable import Variable


def require_kinds(**arguments: tuple[Any, type]) -> None:
    """Each is None or of its type."""
    for name, (value, kind) in arguments.items():
        if value is not None and not isinstance(value, kind):
            raise ProgramError(f"Trainer: {name} is of type {type(value).__name__}, it must be of type {kind.__name__}")


def require_measures(loss: Variable, metrics: Mapping[str, Variable]) -> None:
    """Variables of one element in one program, by names that are not the loss's."""
    for name, var in [("loss", loss), *metrics.items()]:
        if not isinstance(var, Variable):
            raise ProgramError(f"Trainer: {shown(name)} is {shown(var)}, it must be a Variable")
        if any(dim != 1 for dim in var.shape):
            raise ProgramError(f"Trainer: {shown(name)} has shape {list(var.shape)}, not one element: take its mean")
        if var.block.program is not loss.block.program:
            raise ProgramError(f"Trainer: {shown(name)} is a variable of another program than the loss")
    if "loss" in metrics or not all(isinstance(name, str) for name in metrics):
        raise ProgramError(f"Trainer: names of metrics must be strings other than 'loss': {listed(metrics)}")


def require_one_optimizer(program: Program, optimizer: Any, averaging: Any) -> None:
    """The program is minimized by the argument, or it already is by another optimizer, but not both."""
    trains = any(op.attr("op_role", 0) & roles.OPTIMIZE for block in program.blocks for op in block.ops)
    if optimizer is None and averaging is not None and trains:
        raise ProgramError("Trainer: the program of the loss has an optimizer already: leave out averaging=")
    if optimizer is None and not trains:
        raise ProgramError("Trainer: give optimizer=; the program of the loss has none")
    if optimizer is not None and trains:
        raise ProgramError(
            "Trainer: the program of the loss has an optimizer already: leave out optimizer= and averaging=, and to continue "
            "give the same checkpoints=, or initialize=False for the parameters as they are; to begin again, call "
            "reset_default_programs() and build the network again"
        )


def require_counts(function: str, **counts: Any) -> None:
    for name, value in counts.items():
        if value is not None:
            require_positive(function, name, value)


def require_test(program: Program, measures: Mapping[str, Variable]) -> None:
    """The program for validation computes what is measured."""
    names = program.global_block().vars
    missing = next((name for name, var in measures.items() if var.name not in names), None)
    if missing is not None:
        raise ProgramError(
            f"validation: the test program does not have {shown(missing)}, '{printable(measures[missing].name)}': make it by "
            "clone(for_test=True), without prune()"
        )
