# paddle-mini doctor: reports the build, its kernels, the devices and the environment.
from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import numpy as np

import paddle_mini as pm

from .. import _core
from .._core import printable
from ..environment import VARIABLES, described, not_read
from ..errors import near
from .options import add_json, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    parser.set_defaults(command=_doctor)


def _doctor(arguments: argparse.Namespace) -> None:
    library = _core.kernel_library()
    beside = Path(sys.executable).parent / "pm_run"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        threads = f"{pm.num_threads()}: {_core.num_threads_reason()}"
    except pm.ProgramError as error:
        threads = printable(str(error))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    facts = [
        ("paddle_mini", f"{pm.__version__} in {Path(pm.__file__).parent}"),
        ("python", f"{sys.version.split()[0]}, {sys.executable}"),
        ("numpy", np.__version__),
        ("CPU", f"{cores} cores, runs {' '.join(_core.cpu_levels())}"),
        ("threads", threads),
        ("kernels", f"{library['level']}: {library['reason']}"),
        ("library", library["path"]),
        ("operators", str(len(_core.op_types()))),
        ("cuda", _core.gpu_text()),
        ("memory", f"{memory:.1f} GiB"),
        ("pm_run", str(beside) if beside.exists() else shutil.which("pm_run") or "not found"),
    ]
    if arguments.json:
        return print_json({**dict(facts), "environment": {name: value for name, value, _ in described()}})
    for name, fact in facts:
        print(f"{name:12}{fact}")
    print("environment")
    width = max(map(len, VARIABLES))
    for name, value, does in described():
        print(f"  {name:{width}} {f'={printable(value)}' if value else 'not set'}  ({does})")
    for name in not_read():
        print(f"  {printable(name):{width}} is not read{near(name, VARIABLES)}")
    return None
