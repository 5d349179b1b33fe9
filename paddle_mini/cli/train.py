# paddle-mini train: trains a saved program.
from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

import paddle_mini as pm

from .._core import printable
from ..io.model import prefix_of
from ..termination import exit_status
from .options import EPILOG, add_program_options, integer, positive
from .programs import fetches_of, read_feeds, read_program, short


def add_arguments(train: argparse.ArgumentParser) -> None:
    train.epilog = EPILOG
    add_program_options(train)
    train.add_argument(
        "--startup",
        type=prefix_of,
        metavar="PREFIX",
        help="run this program for initial values, instead of reading PREFIX.pdiparams",
    )
    train.add_argument("--steps", type=integer, default=1, help="how many times to run the program (default 1)")
    train.add_argument(
        "--batch",
        type=positive,
        metavar="K",
        help="each step is fed the next K rows of every array, from the start again at the end",
    )
    train.add_argument("--every", type=positive, default=10, metavar="N", help="print what is fetched every N steps (default 10)")
    train.add_argument("--seed", type=integer, help="of random operators that have no seed of their own")
    train.add_argument("--save", type=prefix_of, metavar="PREFIX", help="write the program and its variables afterwards")
    train.set_defaults(command=_train)


def _train(arguments: argparse.Namespace) -> int:
    scope, exe = pm.Scope(), pm.Executor(pm.CPUPlace(), max_loop_steps=arguments.max_loop_steps)
    if arguments.seed is not None:
        pm.seed(arguments.seed)
    if arguments.startup is None:
        program = pm.io.load_program(arguments.prefix, scope)
    else:
        exe.run(read_program(arguments.startup), scope=scope)
        program = read_program(arguments.prefix)
    feeds, fetches, status = read_feeds(arguments.feed), fetches_of(program, arguments.fetch), 0
    try:
        for step, feed in zip(range(1, arguments.steps + 1), _batches(feeds, arguments.batch)):
            values = exe.run(program, feed, fetches, scope)
            if fetches and (step % arguments.every == 0 or step in (1, arguments.steps)):
                print(f"step {step}", *(f" {printable(name)} {short(value)}" for name, value in zip(fetches, values)), flush=True)
    except KeyboardInterrupt as stopped:  # it comes between steps, so the state can be saved
        status = exit_status(stopped)
    if arguments.save:
        pm.io.save_program(arguments.save, program, scope)
        print(f"saved {printable(arguments.save)}.pdmodel")
    return status


def _batches(feeds: dict[str, np.ndarray], size: int | None) -> Iterator[dict[str, np.ndarray]]:
    """The feeds of the steps, as an infinite iterator."""
    if size is None:
        while True:
            yield feeds
    rows = {name: array.shape[0] if array.ndim else 0 for name, array in feeds.items()}
    if len(set(rows.values())) > 1:
        listed = ", ".join(f"{printable(name)} {count}" for name, count in rows.items())
        raise pm.ShapeError(f"the arrays have different numbers of rows: {listed}")
    for name, count in rows.items():
        if count < size:
            raise pm.ShapeError(f"feed '{printable(name)}' {list(feeds[name].shape)} has fewer than {size} rows")
    count = min(rows.values(), default=size) // size
    while True:
        for first in range(0, count * size, size):
            yield {name: array[first : first + size] for name, array in feeds.items()}
