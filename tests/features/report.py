"""Uses every feature that users of such libraries expect, and prints yes or no for each:

PYTHONPATH=tests:python .venv/bin/python -m features.report
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import paddle_mini as pm
from features import deploying, programs, training
from features.rows import ROWS, Missing

MODULES = (programs, training, deploying)
"""They fill ROWS."""


def outcome(number: int, folder: Path) -> str:
    """ "yes", or "no: " and the reason. Any other exception is a fault of a feature that exists."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
            ROWS[number].use(folder)
    except Missing as reason:
        return f"no: {reason}"
    finally:
        os.chdir(before)
    return "yes"


def main() -> None:
    outcomes = []
    for number, row in sorted(ROWS.items()):
        with tempfile.TemporaryDirectory() as folder:
            outcomes.append(outcome(number, Path(folder)))
        print(f"{number:2}  {row.text}: {outcomes[-1]}", flush=True)
    print(f"{outcomes.count('yes')} of {len(outcomes)}")


if __name__ == "__main__":
    main()
