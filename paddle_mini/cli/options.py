# Types of command-line arguments, and the options that several subcommands share.
from __future__ import annotations

import argparse
import json
from typing import Any

from .._core import printable
from ..io.model import prefix_of
from ..json_values import json_value

EPILOG = (
    "Exit status: 0 done, 1 a program, a file or the data is wrong, 2 the command line is wrong, 130 stopped, 143 by SIGTERM. "
    "PM_DEBUG=1 shows tracebacks."
)


def add_program_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prefix", type=prefix_of, metavar="PREFIX", help="PREFIX or PREFIX.pdmodel")
    parser.add_argument(
        "--feed",
        action="append",
        default=[],
        type=pair,
        metavar="NAME=FILE",
        help="feed a variable from an .npy file; may be repeated",
    )
    parser.add_argument(
        "--fetch", action="append", default=[], metavar="NAME[,NAME]", help="what to print; default: the program's own fetches"
    )
    parser.add_argument(
        "--max-loop-steps",
        type=positive,
        metavar="N",
        help="how many steps each loop of a program may take in one run (default: no bound)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead")


def print_json(value: Any) -> None:
    """NaN and infinities are strings, as JSON has no numbers for them."""
    print(json.dumps(json_value(value), indent=1))


def pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"'{printable(word)}' is not NAME=FILE")
    return name, value


def shape(word: str) -> tuple[str, list[int]]:
    try:
        name, dims = pair(word)
        return name, [integer(dim) for dim in dims.split(",") if dim]
    except (argparse.ArgumentTypeError, ValueError):
        raise argparse.ArgumentTypeError(f"'{printable(word)}' is not NAME=2,3") from None


def integer(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 16):
        raise argparse.ArgumentTypeError(f"'{printable(word)}' is not an integer")
    return int(word)


def positive(word: str) -> int:
    number = integer(word)
    if number == 0:
        raise argparse.ArgumentTypeError("it must be at least 1")
    return number
