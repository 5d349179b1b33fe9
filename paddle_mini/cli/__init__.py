# The command paddle-mini: trains, runs and inspects saved programs, starts jobs, and reports the supported devices.
from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import paddle_mini as pm

from ..environment import value_of
from ..errors import printable_lines
from ..termination import exit_status, sigterm_heeded
from .options import EPILOG

SUBCOMMANDS = {
    "train": "train a program that save_program wrote",
    "run": "run a program once",
    "bench": "measure how long a run of a program takes",
    "show": "print a program and what it consists of",
    "convert": "write the parameters of one file to another, in the format that its name says",
    "doctor": "what this build is, what it runs on and why",
    "new-op": "write the C++ file of an operator, and its test",
    "prefix": "where the optimizers' C library is, for pkg-config and CMake",
    "launch": "run a script as a job of several trainers and parameter servers",
    "checkpoint": "list, verify or convert the checkpoints of a cluster's servers",
    "verify": "compare files with their checksums",
}
"""The help of each subcommand; add_arguments() of its module, which has its name with _ for -, adds the arguments."""


def main(words: Sequence[str] | None = None) -> int:
    """Executes a command line; returns the exit status."""
    words = sys.argv[1:] if words is None else words
    _require_streams()
    try:
        arguments = _parser(words).parse_args(words)
        with sigterm_heeded():
            status = arguments.command(arguments)
            sys.stdout.flush()
            return status or 0
    except KeyboardInterrupt as stopped:
        return exit_status(stopped)
    except BrokenPipeError:  # the reader has closed the pipe, as in `paddle-mini show … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if value_of("PM_DEBUG") not in ("", "0"):
            raise
        kind = "" if isinstance(error, (pm.Error, OSError)) else f"{type(error).__name__}: "
        print(f"paddle-mini: {printable_lines(f'{kind}{error}')}", file=sys.stderr)
        return 1


def _require_streams() -> None:
    """Streams that the caller has closed take what is written and drop it; those whose encoding lacks a character, such as an
    accent in a name, write its number."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(printable_lines(message))


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Knows the arguments of the subcommands among the words: to import the modules of all would take longer than most run."""
    parser = _Parser(
        "paddle-mini", epilog=EPILOG, description="Trains, runs and shows programs saved as PREFIX.pdmodel and PREFIX.pdiparams."
    )
    parser.add_argument("--version", action="version", version=f"paddle_mini {pm.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, text in SUBCOMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name in words:
            import_module(f".{name.replace('-', '_')}", __name__).add_arguments(command)
    return parser
