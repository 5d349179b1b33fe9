"""Installs a wheel into an empty environment and runs smoke.py there."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

from .settings import ROOT


def results_of(wheels: list[pathlib.Path], interpreter: pathlib.Path, folder: pathlib.Path) -> str:
    """The output of smoke.py in a new environment with the wheels, and with what they require from the package index.

    Raises subprocess.CalledProcessError with the message on standard error if something fails.
    """
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([interpreter, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wheels], check=True)
    # Outside the source tree, whose package would be imported instead of the wheel's; no warning may be printed.
    command = [python, "-W", "error", ROOT / "python/release/smoke.py", ROOT / "examples/ctypes/train.py"]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
