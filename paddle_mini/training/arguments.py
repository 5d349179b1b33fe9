# Checks of the arguments of Trainer and fit, before anything changes.
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .. import roles
from .._core import ProgramError, printable
from ..data.reader import require_positive
from ..errors import listed, near, shown
from ..io.regular_files import path_of
from ..program import Program
from ..variable import Variable
from .callbacks import Callback
from .monitors import BestCheckpoint


def require_kinds(**arguments: tuple[Any, type]) -> None:
    """Each is None or of its type."""
    for name, (value, kind) in arguments.items():
        if value is not None and not isinstance(value, kind):
            raise ProgramError(f"Trainer: {name} is of type {type(value).__name__}, it must be of type {kind.__name__}")


def require_measures(loss: Variable, metrics: Mapping[str, Variable]) -> None:
    """Variables of one element in one program, by names that are not those of other values."""
    if not isinstance(metrics, Mapping):
        raise ProgramError(
            f"Trainer: metrics is {shown(metrics)}, it must be a dict of Variables by name, such as "
            '{"accuracy": layers.accuracy(predicted, label)}'
        )
    for name, var in [("loss", loss), *metrics.items()]:
        if not isinstance(var, Variable):
            raise ProgramError(f"Trainer: {shown(name)} is {shown(var)}, it must be a Variable")
        if any(dim != 1 for dim in var.shape):
            raise ProgramError(f"Trainer: {shown(name)} has shape {list(var.shape)}, not one element: take its mean")
        if var.block.program is not loss.block.program:
            raise ProgramError(f"Trainer: {shown(name)} is a variable of another program than the loss")
    if not all(isinstance(name, str) for name in metrics):
        raise ProgramError(f"Trainer: names of metrics must be strings: {listed(metrics)}")
    taken = {"epoch", "step", "loss"}.union(f"{part}{name}" for name in ("loss", *metrics) for part in ("val_", "averaged_val_"))
    twice = [name for name in metrics if name in taken]
    if twice:
        raise ProgramError(
            f"Trainer: {shown(twice[0])} is the name of another value of the history: give this metric another name"
        )


def require_one_optimizer(program: Program, optimizer: Any, averaging: Any) -> None:
    """The program is minimized by the argument, or it already is by another optimizer, but not both."""
    if optimizer is not None and (isinstance(optimizer, type) or not callable(getattr(optimizer, "minimize", None))):
        raise ProgramError(
            f"Trainer: optimizer is {shown(optimizer)}, it must be an object of pm.optimizer, such as pm.optimizer.Adam(0.001)"
        )
    trains = any(op.attr("op_role", 0) & roles.OPTIMIZE for block in program.blocks for op in block.ops)
    if optimizer is None and averaging is not None and trains:
        raise ProgramError("Trainer: the program of the loss has an optimizer already: leave out averaging=")
    if optimizer is None and not trains:
        raise ProgramError("Trainer: give optimizer=; the program of the loss has none")
    if optimizer is not None and trains:
        raise ProgramError(
            "Trainer: the program of the loss has an optimizer already: leave out optimizer= and averaging=, and to continue "
            "give the same checkpoints=, or initialize=False for the parameters as they are; to train from the "
            "beginning, call reset_default_programs() and build the network"
        )


def require_counts(function: str, **counts: Any) -> None:
    for name, value in counts.items():
        if value is not None:
            require_positive(function, name, value)


def require_callbacks(callbacks: Any) -> None:
    """A list of objects of Callback whose methods on_... are those that fit calls."""
    _require_list("callbacks", callbacks)
    for one in callbacks:
        if isinstance(one, type):
            raise ProgramError(f"fit: callbacks has the class {one.__name__}, give an object: {one.__name__}(...)")
        if not isinstance(one, Callback):
            where = ", which goes into loggers=" if callable(getattr(one, "log", None)) else ""
            raise ProgramError(
                f"fit: callbacks has {shown(one)}{where}; a callback is an object of a class derived from pm.training.Callback"
            )
        own = [name for name in dir(Callback) if name.startswith("on_")]
        for name in dir(type(one)):
            if name.startswith("on_") and name not in own:
                meant = f"; did you mean '{_HOOKS[name]}'?" if name in _HOOKS else near(name, own)
                raise ProgramError(f"{type(one).__name__}: fit does not call '{name}'{meant}; it calls {listed(own)}")


# Names in other libraries, whose spelling is not close to those here.
_HOOKS = {
    "on_batch_end": "on_step_end",
    "on_train_batch_end": "on_step_end",
    "on_train_begin": "on_fit_begin",
    "on_train_start": "on_fit_begin",
    "on_train_end": "on_fit_end",
    "on_train_epoch_end": "on_epoch_end",
    "on_validation_end": "on_epoch_end",
    "on_test_end": "on_epoch_end",
}


def require_own_folders(callbacks: Any, checkpoints: Any) -> None:
    """No two of them save checkpoints into one folder: each would remove those of the other."""
    given = [] if checkpoints is None else [("checkpoints=", getattr(checkpoints, "directory", checkpoints))]
    given += [(f"{type(one).__name__}({one.monitor!r})", one.folder) for one in callbacks if isinstance(one, BestCheckpoint)]
    users: dict[str, str] = {}
    for user, folder in given:
        path = os.path.realpath(path_of(folder))
        if path in users:
            raise ProgramError(
                f"fit: {users[path]} and {user} save into the same folder {shown(os.fspath(folder))}, where each removes the "
                "checkpoints of the other: give each a folder of its own"
            )
        users[path] = user


def require_loggers(loggers: Any) -> None:
    _require_list("loggers", loggers)
    for one in loggers:
        if isinstance(one, type) or not callable(getattr(one, "log", None)):
            raise ProgramError(
                f"fit: loggers has {shown(one)}, it must be an object with log(values, step), such as of pm.loggers"
            )


def _require_list(name: str, value: Any) -> None:
    if not isinstance(value, (list, tuple)):
        raise ProgramError(f"fit: {name} is {shown(value)}, it must be a list: {name}=[...]")


def require_test(program: Program, measures: Mapping[str, Variable]) -> None:
    """The program for validation computes what is measured."""
    names = program.global_block().vars
    missing = next((name for name, var in measures.items() if var.name not in names), None)
    if missing is not None:
        raise ProgramError(
            f"validation: the test program does not have {shown(missing)}, '{printable(measures[missing].name)}': make it by "
            "clone(for_test=True), without prune()"
        )
