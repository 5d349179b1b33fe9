# The command paddle-mini: trains, runs and inspects saved programs, starts jobs, and reports the supported devices.
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import paddle_mini as pm

from ..environment import value_of
from ..errors import printable_lines
from ..termination import exit_status, sigterm_heeded
from .checkpoint import add_checkpoint
from .doctor import add_doctor
from .launch import add_launch
from .options import EPILOG
from .prefix import add_prefix
from .run import add_run
from .show import add_show
from .train import add_train
from .verify import add_verify

SUBCOMMANDS = (add_train, add_run, add_show, add_doctor, add_prefix, add_launch, add_checkpoint, add_verify)
"""Each function adds one subcommand to the parser, in the order of the help text."""


def main(words: Sequence[str] | None = None) -> int:
    """Executes a command line; returns the exit status."""
    arguments = _parser().parse_args(words)
    try:
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


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(printable_lines(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "paddle-mini", epilog=EPILOG, description="Trains, runs and shows programs saved as PREFIX.pdmodel and PREFIX.pdiparams."
    )
    parser.add_argument("--version", action="version", version=f"paddle_mini {pm.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in SUBCOMMANDS:
        add(commands)
    return parser
