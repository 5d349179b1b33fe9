# The table of features: a number, what users expect, and a function that uses it.
from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(sys.executable).parent


class Missing(Exception):
    """A feature that does not exist; the message is the reason."""


class Row(NamedTuple):
    """use: called with an empty folder, in programs and a scope of its own; raises Missing where the feature does not exist."""

    text: str
    use: Callable[[Path], None]


ROWS: dict[int, Row] = {}


def feature(number: int, text: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Adds a function to the table."""

    def add(use: Callable[[Path], None]) -> Callable[[Path], None]:
        assert number not in ROWS, f"two features have number {number}"
        ROWS[number] = Row(text, use)
        return use

    return add


def python(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process that runs the code in the folder."""
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def command(*words: object) -> subprocess.CompletedProcess[str]:
    """A call of paddle-mini."""
    return subprocess.run([SCRIPTS / "paddle-mini", *map(str, words)], capture_output=True, text=True, timeout=120)
