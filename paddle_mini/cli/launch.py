# paddle-mini launch: runs a single-machine script in each trainer of a job.
from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from ..cluster.job import ENGINES, run
from ..cluster.job_settings import COLLECTIVE, JobSettings
from ..cluster.object_store import is_url
from ..cluster.servers.settings import MODES
from ..cluster.view.status_view import pushes, status_view
from ..environment import value_of
from ..io.regular_files import open_regular

_OWN = ("job", "trainers", "servers", "mode", "run")
"""Settings whose options are declared below, or that have no option."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Each trainer runs SCRIPT, which calls paddle_mini.cluster.join() and trains with what that "
        "returns. Options that are not explained here are those of paddle_mini.cluster.run()."
    )
    parser.add_argument("--trainers", type=int, default=1, metavar="N")
    parser.add_argument("--servers", type=int, default=argparse.SUPPRESS, metavar="N")
    parser.add_argument("--mode", choices=(*MODES, COLLECTIVE), default="async")
    parser.add_argument("--engine", choices=ENGINES, default="threads")
    parser.add_argument("--address", help="of a cluster of Ray; default: RAY_ADDRESS, or this machine")
    parser.add_argument(
        "--directory",
        type=_directory,
        metavar="DIR",
        help="for the job's state and checkpoints, or a URL of an object store; a job resumes from it",
    )
    parser.add_argument("--job", default="job", metavar="NAME")
    parser.add_argument("--restarts", type=int, default=argparse.SUPPRESS, metavar="N")
    parser.add_argument("--tensorboard", type=Path, metavar="DIR", help="write scalars for TensorBoard there")
    parser.add_argument(
        "--prometheus",
        type=int,
        default=argparse.SUPPRESS,
        metavar="PORT",
        help="serve the status for Prometheus on this machine",
    )
    for one in fields(JobSettings):
        if one.name not in _OWN:
            kind = int if one.type == "int" else float
            parser.add_argument(f"--{one.name.replace('_', '-')}", type=kind, default=argparse.SUPPRESS, metavar="N")
    parser.add_argument("script", type=Path, metavar="SCRIPT")
    parser.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS", help="of the script")
    parser.set_defaults(command=_launch)


def _launch(arguments: argparse.Namespace) -> None:
    settings = {name: value for name, value in vars(arguments).items() if name not in ("command", "script", "args")}
    script = os.path.abspath(arguments.script)
    with open(script, "rb", opener=open_regular) as file:  # reports a missing or invalid script before the job starts
        compile(file.read(), script, "exec", dont_inherit=True)
    if settings["engine"] == "ray" and (settings["address"] or value_of("RAY_ADDRESS")):
        script = _shipped(script, settings)
    with status_view(sys.stderr) as show:
        counts = run(partial(_run_script, script, arguments.args), on_status=show, **settings).counts
    print(pushes(counts), file=sys.stderr)


def _directory(text: str) -> str | Path:
    if not text:
        raise argparse.ArgumentTypeError("it is empty: give the path of a folder, or leave the option out")
    return text if is_url(text) else Path(text)


def _shipped(script: str, settings: dict[str, Any]) -> str:
    """Sets the engine to one that sends the script's folder to the machines of the cluster; the script's path there. The
    job's own directories in that folder are not sent."""
    from ..cluster.ray_engine import RayEngine  # imported here, as Ray is large and may not be installed

    folder, written = Path(script).parent, [settings["directory"], settings["tensorboard"]]
    inside = [path.resolve() for path in written if isinstance(path, Path) and folder.resolve() in path.resolve().parents]
    leaves_out = [".git", ".venv", *(f"/{path.relative_to(folder.resolve())}" for path in inside)]
    settings["engine"] = RayEngine(settings["address"], ships=str(folder), leaves_out=leaves_out)
    settings["address"] = None
    return os.path.basename(script)


def _run_script(script: str, args: Sequence[str]) -> None:
    """Runs like `python script args`. On threads the trainers share process-wide state, as runpy documents: sys.argv
    and sys.path are the same for all, sys.modules["__main__"] belongs to one of them; each has its own module."""
    script = os.path.abspath(script)  # a script that was shipped is in the working directory
    folder = os.path.dirname(script)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.argv = [script, *args]
    runpy.run_path(script, run_name="__main__")
