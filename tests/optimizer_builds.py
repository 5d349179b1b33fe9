# The optimizers' C library for programs in other languages: where it is installed, how programs are built with it.
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paddle_mini import _core

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(_core.__file__).parent / "capi"
# In a staged package the libraries are links into the build directory.
BUILDS = (Path(_core.__file__).resolve().parent, ROOT / "build")
BUILD = next((folder for folder in BUILDS if (folder / "CMakeCache.txt").exists()), None)
NAME = "paddle_mini_optimizer"


def tool(name):
    """The path of a program, next to this Python or of the system; the test is skipped if there is none."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed here")
    return found


def run(*command, status=0, timeout=300, **options):
    """The output of a command, including standard error; `env` is added to the environment."""
    environment = {**os.environ, **options.pop("env", {})}
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        env=environment,
        **options,
    )
    assert done.returncode == status, f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}"
    return done.stdout


def install(folder):
    """The prefix of `cmake --install`, moved to a folder that the installation does not know."""
    if BUILD is None:
        pytest.skip("there is no build directory to install from")
    run(tool("cmake"), "--install", BUILD, "--component", "optimizer", "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved")


def pkg_config(prefix, *words):
    return run(tool("pkg-config"), *words, NAME, env={"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).split()


def compile_c(program, sources, prefix, *options, library=None):
    """Links with the shared library of a prefix, or with another one."""
    folder = library.parent if library else Path(pkg_config(prefix, "--variable=libdir")[0])
    run(
        tool("gcc"),
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-g",
        "-O1",
        "-pthread",
        f"-I{ROOT / 'examples/c'}",
        *pkg_config(prefix, "--cflags"),
        *options,
        "-o",
        program,
        *sources,
        f"-L{folder}",
        f"-l{NAME}",
        f"-Wl,-rpath,{folder}",
    )
    return program
