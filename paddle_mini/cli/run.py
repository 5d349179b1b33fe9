# paddle-mini run: runs a saved program once.
from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import paddle_mini as pm

from .._core import printable
from .options import EPILOG, add_program_options
from .programs import fetches_of, read_feeds, short


def add_run(commands: Any) -> None:
    """Adds the command to a parser's subcommands."""
    run = commands.add_parser("run", help="run a program once", epilog=EPILOG)
    add_program_options(run)
    run.add_argument("--out", type=Path, metavar="DIR", help="write what is fetched to DIR/NAME.npy")
    run.set_defaults(command=_run)


def _run(arguments: argparse.Namespace) -> None:
    scope = pm.Scope()
    program = pm.io.load_program(arguments.prefix, scope)
    fetches = fetches_of(program, arguments.fetch)
    if not fetches:
        raise pm.ProgramError("the program has no fetch operators: name its outputs with --fetch")
    exe = pm.Executor(pm.CPUPlace(), max_loop_steps=arguments.max_loop_steps)
    values = exe.run(program, read_feeds(arguments.feed), fetches, scope)
    for name, value in zip(fetches, values):
        array = value.to_dense() if isinstance(value, pm.SelectedRows) else value
        print(f"{printable(name)} {list(array.shape)} {array.dtype}  {short(array)}")
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            np.save(arguments.out / f"{_file_name(name)}.npy", array)


def _file_name(name: str) -> str:
    """A variable's name is never a path."""
    plain = name.replace("/", "_").replace("\0", "_")
    return "_" if plain in (".", "..") else plain
