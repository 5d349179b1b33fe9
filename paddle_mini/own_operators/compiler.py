# Compiles the file of an operator into a shared library, which is kept in a folder of the user.
from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from .. import _core
from .._core import ProgramError, printable
from ..environment import value_of
from ..errors import printable_lines, shown

_FOLDER = Path(_core.__file__).parent  # where the libraries, the headers and the flags are
_EIGEN = "cmeel.prefix/include/eigen3"  # in site-packages, by the package cmeel-eigen

_UNIT = "operator.cc"  # in the folder where it is compiled
_COMPILING = "compiling-"  # begins the names of the folders in which libraries are compiled
_LONGEST = 24 * 3600  # seconds that a compilation may take

# Ends the file of an operator: the function that the process calls when it has loaded the library.
_ENTRY = """
#include "core/op_table.h"
namespace paddle_mini {{ void define_{name}(OpTable&); }}
extern "C" __attribute__((visibility("default"))) void paddle_mini_define_operators(paddle_mini::OpTable& ops) {{
  paddle_mini::define_{name}(ops);
}}
"""


def library_of(name: str, path: str, source: str, gpu_library: str = "") -> Path:
    """The library of the operator `name`, compiled for the level of CPU of this process, or for the GPUs of a library of
    kernels. It is compiled unless the folder has it from the same source, compiler, flags and libraries. Raises ProgramError."""
    command, identity = _gpu_command(gpu_library) if gpu_library else _command()
    unit = f"#line 1 {json.dumps(path, ensure_ascii=False)}\n{source}\n{_ENTRY.format(name=name)}"
    key = hashlib.sha256(json.dumps([unit, command, identity]).encode("utf-8", "surrogateescape")).hexdigest()
    folder = _own_folder()
    library = folder / f"{name}-{'gpu-' if gpu_library else ''}{key[:32]}.so"
    if not _is_own(library, stat.S_ISREG):
        _remove_left_folders(folder)
        # Processes that compile the same file at the same time replace each other's library by an equal one.
        with tempfile.TemporaryDirectory(prefix=_COMPILING, dir=folder) as work:
            made = os.path.join(work, "operator.so")
            _run([*command, "-o", made], unit, work, path)
            os.replace(made, library)
    return library


def _remove_left_folders(folder: Path) -> None:
    """Removes the folders of compilations whose process was killed: nothing has changed there for a day."""
    for left in folder.glob(f"{_COMPILING}*"):
        try:
            if time.time() - os.lstat(left).st_mtime > _LONGEST:
                shutil.rmtree(left)
        except FileNotFoundError:  # another process has removed it
            pass


def _run(command: list[str], unit: str, work: str, path: str) -> None:
    """Runs the compiler in a folder without headers; LC_ALL: the messages are in English; what this process preloads is not for
    the compiler."""
    Path(work, _UNIT).write_bytes(unit.encode("utf-8", "surrogateescape"))
    done = subprocess.run(["env", "-u", "LD_PRELOAD", "LC_ALL=C", *command], cwd=work, capture_output=True)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        errors = [line for line in lines if "error" in line or "undefined reference" in line]
        raise ProgramError(f"{printable(path)} does not compile:\n{printable_lines(chr(10).join(errors[:8] or lines))}")


@cache
def _command() -> tuple[list[str], list[str]]:
    """The command that compiles _UNIT, without -o; and what the result depends on beside it: the version of the compiler, and
    the libraries, which change with the headers."""
    kernels = _core.kernel_library()
    libraries = [kernels["path"], str(_FOLDER / "libpaddle_mini.so")]
    linked = ["-x", "none", *libraries, "-shared", "-Wl,-z,defs", "-Wl,-z,relro", "-Wl,-z,now"]
    headers = [f"-I{_FOLDER / 'cxx/include'}", "-isystem", _eigen()]
    compiler = _compiler()
    return [*compiler, *_flags(kernels["compiled_for"]), *headers, "-x", "c++", _UNIT, *linked], _identity(compiler, libraries)


@cache
def _gpu_command(gpu_library: str) -> tuple[list[str], list[str]]:
    """The same for GPUs. The operator is linked with their library first, which has what the operator includes of the kernels."""
    compiler = shlex.split(value_of("PM_NVCC")) or ["nvcc"]
    libraries = [gpu_library, str(_FOLDER / "libpaddle_mini.so")]
    linked = ["-shared", "-Xlinker", "-z,defs,-z,relro,-z,now", *libraries]
    headers = [f"-I{_FOLDER / 'cxx/include'}"]
    return [*compiler, *_flags("gpu"), *headers, "-x", "cu", _UNIT, *linked], _identity(compiler, libraries)


def has_gpu_compiler() -> bool:
    """ProgramError if PM_NVCC names a program that does not exist."""
    words = shlex.split(value_of("PM_NVCC"))
    if words and not shutil.which(words[0]):
        raise ProgramError(f"PM_NVCC={shown(words[0])}: there is no such program")
    return bool(words or shutil.which("nvcc"))


def _flags(target: str) -> list[str]:
    return shlex.split((_FOLDER / "cxx/operator_flags" / f"{target}.txt").read_text())


def _identity(compiler: list[str], libraries: list[str]) -> list[str]:
    version = subprocess.run([*compiler, "--version"], capture_output=True, text=True, errors="replace")
    if version.returncode:
        raise ProgramError(f"the compiler {shown(shlex.join(compiler))} fails: {printable_lines(version.stderr)}")
    return [version.stdout, *(f"{os.stat(library).st_size} {os.stat(library).st_mtime_ns}" for library in libraries)]


def _compiler() -> list[str]:
    words = shlex.split(value_of("PM_CXX"))
    for candidate in [words] if words else [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(candidate[0]):
            return candidate
    if words:
        raise ProgramError(f"PM_CXX={shown(words[0])}: there is no such program")
    raise ProgramError("there is no C++ compiler, which operators in C++ need: apt-get install g++, or PM_CXX=/path/to/one")


def _eigen() -> str:
    found = next((path for path in (Path(entry) / _EIGEN for entry in sys.path) if (path / "Eigen/Core").exists()), None)
    if found is None:
        raise ProgramError("Eigen's headers are missing, which operators in C++ need: pip install 'paddle_mini[operators]'")
    return str(found)


def _own_folder() -> Path:
    """The folder of compiled operators. Its files are code that runs in this process, so other users must not write there."""
    folder = Path(value_of("PM_OPERATORS") or os.path.expanduser("~/.cache/paddle_mini/operators"))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ProgramError(f"can't make the folder of compiled operators: {error}; PM_OPERATORS names another") from None
    if not _is_own(folder, stat.S_ISDIR):
        raise ProgramError(
            f"{shown(str(folder))} can't keep compiled operators: it must be a folder that belongs to you and that "
            f"only you may write; PM_OPERATORS names another"
        )
    return folder


def _is_own(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """True for a path of this kind, not a link to one, that belongs to the user of this process and that only that user may
    write."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    return is_kind(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
