"""The loops for each CPU level, one of which is selected at the first use of the library, give the same bits."""

import os
import subprocess
import sys

import pytest

from paddle_mini import _core

LEVELS = [level for level in _core.cpu_levels() if level not in ("v4-amx", "v4-bf16", "baseline")] or ["baseline"]
# Sums over a whole gradient add one register at a time: their last bits depend on the level.
PROGRAM = """
import hashlib, os, sys
from one_parameter import KINDS, gradients, library, row_gradients, values
from paddle_mini.optimizer.native_library import load_library

os.environ["PM_CPU"] = sys.argv[1]  # only now: a build may have its operators for one level
print(load_library().paddle_optimizer_processor_level().decode())
averages = [{"scheme": "window", "window_min": 2, "window_max": 2}, {"scheme": "exponential", "decay": 0.9}]
others = {"l1_rate": 0.01, "l2_rate": 0.1, "clip_value": 0.9, "row_policy": "LikeZeros", "averaging": averages}
for kind, fields in KINDS.items():
    if kind in ("Lamb", "Lars", "Dpsgd"):
        continue
    for dtype in ("float32", "float64"):
        one = library(kind, values(dtype), fields, **others)
        for gradient, rows in zip(gradients(5, dtype), row_gradients(5, dtype)):
            one.update(gradient)
            one.update_rows(*rows)
        print(kind, dtype, hashlib.sha256(one.state()).hexdigest())
"""


def run(level):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM, level], env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.fixture(scope="module")
def best():
    status, lines, trouble = run(LEVELS[0])
    assert status == 0, trouble
    return lines


@pytest.mark.parametrize("level", LEVELS[1:])
def test_another_level(best, level):
    status, lines, trouble = run(level)
    assert status == 0, trouble
    assert (best[0], lines[0]) == (LEVELS[0], level)
    assert len(lines) > 20 and lines[1:] == best[1:]


@pytest.mark.skipif("v4-bf16" not in _core.cpu_levels(), reason="the CPU has no such instructions")
def test_loops_for_v4_serve_v4_bf16(best):
    assert run("v4-bf16") == (0, best, "")


def test_a_level_that_is_not_there():
    status, _, trouble = run("v9")
    assert status != 0 and "PM_CPU=v9" in trouble
