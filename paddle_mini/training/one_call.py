# fit: trains a loss in one call.
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from .._core import Scope
from ..averaging.scheme import Scheme
from ..executor import Executor
from ..io.checkpoint import CheckpointManager
from ..program import Program
from ..renamed import takes_other_names
from ..variable import Variable
from .callbacks import Callback
from .history import History
from .trainer import Trainer


@takes_other_names
def fit(
    loss: Variable,
    data: Any,
    optimizer: Any = None,
    epochs: int = 1,
    validation: Any = None,
    metrics: Mapping[str, Variable] | None = None,
    averaging: Scheme | Sequence[Scheme] | None = None,
    batch_size: int = 32,
    shuffle: bool = True,
    seed: int = 0,
    steps_per_epoch: int | None = None,
    callbacks: Sequence[Callback] = (),
    loggers: Sequence[Any] = (),
    checkpoints: str | os.PathLike[str] | CheckpointManager | None = None,
    schedule: str = "step",
    progress: bool = True,
    fast_dev_run: bool = False,
    overfit_batches: int = 0,
    check_finite: bool = False,
    startup: Program | None = None,
    test: Program | None = None,
    exe: Executor | None = None,
    scope: Scope | None = None,
    initialize: bool = True,
) -> History:
    """Minimizes a loss over epochs of data, and returns the values of each epoch: Trainer(loss, ...).fit(data, ...).

    loss, optimizer, metrics, averaging, startup, test, exe, scope, initialize: see Trainer.

    data: what the program reads, by the names of its layers.data: a dict of arrays with a row for each sample, a tuple of
    arrays in the order of the variables, a pandas DataFrame, a pm.data.Loader, an iterable of batches (dicts or tuples of
    arrays; a DataLoader of torch), or a function, of the epoch from 0 or of nothing, that returns one. batch_size, shuffle,
    seed: for data that is not in batches. Floats and integers are converted to the variable's dtype, and dimensions of 1 are
    added or removed; any other difference is a ShapeError. steps_per_epoch: ends epochs early; needed for an endless iterator.
    validation: such data, for which the means of loss and metrics are computed after each epoch, as "val_loss"; where the
    program averages parameters also with the averages, as "averaged_val_loss".
    callbacks: called in this order. loggers: objects with log(values: dict[str, float], step: int), called for each epoch.

    checkpoints: a folder: a checkpoint is saved at the end of each epoch, every 10 minutes, and on Ctrl-C or SIGTERM, which is
    raised again when the step is complete. The same call then continues with the same bits: parameters, averages, random
    state, schedules, position in the data and history; in the same process without optimizer and averaging, which the program
    has. Or a CheckpointManager, whose save() is called after each step.
    schedule: an LRScheduler takes one step each "step" or "epoch". ReduceOnPlateau: each epoch, with val_loss, else loss.
    progress: a bar at a terminal where tqdm is installed, and a line for each epoch.
    fast_dev_run: one batch of each data, one epoch, without checkpoints, loggers and files of callbacks. overfit_batches=n:
    trains on the first n batches only, in each epoch the same ones. check_finite: within pm.check_finite(): the first operator
    that gives NaN or an infinity is an OpError.

    ProgramError or ShapeError, before anything changes, for data that is empty or does not fit the program, unknown values in
    callbacks, and arguments that don't belong together.

    >>> history = pm.fit(loss, {"x": inputs, "y": targets}, pm.optimizer.SGD(0.1), epochs=3, progress=False)
    >>> len(history["loss"])
    3
    """
    trainer = Trainer(loss, optimizer, metrics, averaging, startup, test, exe, scope, initialize)
    return trainer.fit(
        data,
        epochs,
        validation,
        batch_size,
        shuffle,
        seed,
        steps_per_epoch,
        callbacks,
        loggers,
        checkpoints,
        schedule,
        progress,
        fast_dev_run,
        overfit_batches,
        check_finite,
    )
