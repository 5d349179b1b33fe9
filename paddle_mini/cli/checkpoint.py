# paddle-mini checkpoint: lists, verifies and converts the checkpoints of a job's servers.
from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from .._core import printable
from ..cluster.convert import read_parameters
from ..cluster.errors import ClusterError, StorageError
from ..cluster.servers.server_checkpoint import Found, blocks, found, verified
from ..errors import printable_lines
from ..io.regular_files import path_of
from ..io.state import save_state


def add_checkpoint(commands: Any) -> None:
    """Adds the command and its actions to a parser's subcommands."""
    parser = commands.add_parser("checkpoint", help="list, verify or convert the checkpoints of a cluster's servers")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    for name, does, text in (
        ("list", _list, "one line a checkpoint, newest first"),
        ("verify", _verify, "read all of them; status 1 when one is damaged or missing"),
        ("convert", _convert, "one file with all parameters, for any number of servers"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("directory", type=Path, metavar="DIR", help="of the job")
        action.set_defaults(command=does)
        if name == "convert":
            action.add_argument("out", type=Path, metavar="FILE", help=".pdparams or .safetensors")
            action.add_argument("--average", type=int, metavar="K", help="one of the averages, from 0")


def _list(arguments: argparse.Namespace) -> None:
    for checkpoint in _some(arguments.directory):
        print(_line(checkpoint))


def _verify(arguments: argparse.Namespace) -> int:
    damaged = 0
    for checkpoint in _some(arguments.directory):
        trouble = _trouble(checkpoint)
        damaged += trouble is not None
        print(f"{_line(checkpoint)}  {printable_lines(trouble or 'whole')}")
    read_parameters(os.fspath(arguments.directory))  # every server needs an intact one
    return 1 if damaged else 0


def _convert(arguments: argparse.Namespace) -> None:
    if arguments.out.suffix not in (".pdparams", ".safetensors"):
        raise StorageError(f"'{arguments.out}': the file name must end with .pdparams or .safetensors")
    parameters = read_parameters(os.fspath(arguments.directory), arguments.average)
    save_state(arguments.out, parameters)
    print(f"{len(parameters)} parameters in {printable(arguments.out)}")


def _some(directory: Path) -> list[Found]:
    checkpoints = sorted(found(path_of(directory)), key=lambda one: (one.server, -one.facts["number"]))
    if not checkpoints:
        raise StorageError(f"no checkpoints of servers in '{directory}'")
    return checkpoints


def _line(checkpoint: Found) -> str:
    facts = checkpoint.facts
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(facts.get("timestamp", 0) / 1e9))
    return (
        f"server {checkpoint.server} of {facts.get('servers')}  job {printable(facts.get('job'))}  "
        f"number {facts['number']}  version {facts.get('version')}  {when}  {os.path.getsize(checkpoint.path)} bytes  "
        f"{printable(os.path.basename(checkpoint.path))}"
    )


def _trouble(checkpoint: Found) -> str | None:
    try:
        with verified(checkpoint.path) as (file, facts):
            for _ in blocks(file, facts):
                continue
    except ClusterError as error:
        return str(error)
    return None
