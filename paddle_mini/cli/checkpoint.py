# paddle-mini checkpoint: lists, verifies and converts the checkpoints of a job's servers.
from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .._core import printable
from ..cluster.convert import none_in, read_parameters, write_model
from ..cluster.errors import ClusterError, StorageError
from ..cluster.object_store import local_files
from ..cluster.servers.checkpoint_file import Found, blocks, found, verified
from ..errors import printable_lines
from ..io.regular_files import path_of
from ..io.state import save_state
from .options import add_json, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the actions."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    for name, does, text in (
        ("list", _list, "one line a checkpoint, newest first"),
        ("verify", _verify, "read all of them; status 1 when one is damaged or missing"),
        ("convert", _convert, "one file with all parameters, or a model that runs, for any number of servers"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("directory", metavar="DIR", help="of the job, or its URL in an object store")
        action.set_defaults(command=partial(_in_place, does))
        if name != "convert":
            add_json(action)
        else:
            action.add_argument("out", type=Path, metavar="FILE", help=".pdparams, .safetensors, or .pdmodel with --fetch")
            action.add_argument("--fetch", action="append", metavar="NAME", help="a variable that the model computes")
            action.add_argument("--feed", action="append", metavar="NAME", help="its inputs, in order; default: all it needs")
            action.add_argument("--average", type=int, metavar="K", help="one of the averages, from 0")


def _in_place(does: Callable[[argparse.Namespace], Any], arguments: argparse.Namespace) -> Any:
    """Runs an action in the directory, or in a copy of the objects."""
    with local_files(path_of(arguments.directory)) as arguments.directory:
        return does(arguments)


def _list(arguments: argparse.Namespace) -> None:
    checkpoints = _some(arguments.directory)
    if arguments.json:
        return print_json([_facts(checkpoint) for checkpoint in checkpoints])
    for checkpoint in checkpoints:
        print(_line(checkpoint))
    return None


def _verify(arguments: argparse.Namespace) -> int:
    troubles = [(checkpoint, _trouble(checkpoint)) for checkpoint in _some(arguments.directory)]
    if arguments.json:
        print_json([{**_facts(checkpoint), "damage": trouble} for checkpoint, trouble in troubles])
    else:
        for checkpoint, trouble in troubles:
            print(f"{_line(checkpoint)}  {printable_lines(trouble or 'whole')}")
    read_parameters(arguments.directory)  # every server needs an intact one
    return 1 if any(trouble is not None for _, trouble in troubles) else 0


def _convert(arguments: argparse.Namespace) -> None:
    if (arguments.out.suffix == ".pdmodel") != bool(arguments.fetch) or (arguments.feed and not arguments.fetch):
        raise StorageError("a .pdmodel needs --fetch NAME, other files take neither --fetch nor --feed")
    if arguments.fetch:
        prefix = arguments.out.with_suffix("")
        feeds = write_model(arguments.directory, prefix, arguments.fetch, arguments.feed or (), arguments.average)
        print(f"{printable(arguments.out)} computes {printable(', '.join(arguments.fetch))} from {printable(', '.join(feeds))}")
        return
    if arguments.out.suffix not in (".pdparams", ".safetensors"):
        raise StorageError(f"'{arguments.out}': the file name must end with .pdparams, .safetensors or .pdmodel")
    parameters = read_parameters(arguments.directory, arguments.average)
    save_state(arguments.out, parameters)
    print(f"{len(parameters)} parameters in {printable(arguments.out)}")


def _some(directory: str) -> list[Found]:
    checkpoints = sorted(found(path_of(directory)), key=lambda one: (one.server, -one.facts["number"]))
    if not checkpoints:
        raise none_in(directory)
    return checkpoints


def _facts(checkpoint: Found) -> dict[str, Any]:
    facts = checkpoint.facts
    named = {name: facts.get(name) for name in ("servers", "job", "number", "version", "timestamp")}
    base = facts.get("base", {}).get("uuid")
    return {
        "path": checkpoint.path,
        "server": checkpoint.server,
        **named,
        "base": base,
        "bytes": os.path.getsize(checkpoint.path),
    }


def _line(checkpoint: Found) -> str:
    facts = checkpoint.facts
    kind = " of changes" if "base" in facts else ""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(facts.get("timestamp", 0) / 1e9))
    return (
        f"server {checkpoint.server} of {facts.get('servers')}  job {printable(facts.get('job'))}  "
        f"number {facts['number']}  version {facts.get('version')}  {when}  {os.path.getsize(checkpoint.path)} bytes{kind}  "
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
