# Child processes of the tests of operators that users define: a process keeps every operator that it has loaded.
from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from optimizer_builds import BUILD
from paddle_mini.own_operators import compiler

CUBE = """// cube: Out = X^3
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Cube {
  template <class V>
  PM_HD V operator()(V x) const {
    return x * x * x;
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return V(3) * x * x * gradient;
  }
};

}  // namespace

void define_cube(OpTable& ops) {
  add_unary<Cube, Saved::X>(ops, unary("cube").doc("Out = X^3."), "X@GRAD = 3 X^2 Out@GRAD.");
}

}  // namespace paddle_mini
"""

PYTHON_CUBE = """
@pm.python_op
def cube(x):
    "out = x^3, element by element."
    return x ** 3
@cube.gradient
def cube_gradient(x, out_grad):
    return 3 * x * x * out_grad
"""
HEADERS = '#include "core/op_table.h"\n#include "ops/family/unary.h"\n'
REFUSED = """
def refused(call):
    try:
        print(call())
    except pm.Error as error:
        print(type(error).__name__, str(error).replace(chr(10), ' | '))
"""


@cache
def prepared_compiler() -> str:
    """PM_CXX for a compiler that finds the headers of operators precompiled: a file takes a third of the time. The first
    process makes that, and others wait; it is made again for other flags or libraries."""
    command, identity = compiler._command()
    folder = BUILD / "tests" if BUILD else Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    header, made, stamp = folder / "operators.h", folder / "made_for", f"{HEADERS}{command}\n{identity}"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists() or made.read_text() != stamp:
            made.unlink(missing_ok=True)
            header.write_text(HEADERS)
            words = [*command[: command.index("-x")], "-x", "c++-header", str(header), "-o", f"{header}.gch"]
            subprocess.run(words, check=True, timeout=300)
            made.write_text(stamp)
    return shlex.join([*compiler._compiler(), "-include", str(header)])


def started(code: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
    """A process that runs the code in the folder, where the code finds and keeps compiled operators."""
    variables = {**os.environ, "PM_OPERATORS": str(folder / "compiled"), **environment}
    site = ["-S"] if sys.flags.no_site else []  # tests/staged.py
    path = f"import sys; sys.path[:] = {sys.path!r}\n" if site else ""
    prepared = f"{path}import numpy as np\nimport paddle_mini as pm\n{code}"
    command = [sys.executable, *site, "-W", "error", "-c", prepared]
    return subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def printed(code: str, folder: Path, **environment: str) -> list[str]:
    """The lines that the code prints."""
    child = started(code, folder, **environment)
    out, err = child.communicate(timeout=300)
    assert child.returncode == 0, err
    return out.splitlines()


def said(code: str, folder: Path) -> list[str]:
    """The lines of code that calls refused(call): it prints the error of the call, in one line, or its result."""
    return printed(REFUSED + code, folder)
