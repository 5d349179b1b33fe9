"""The systems that wheels are made for: versions of Python, and where their headers are, machines, and glibc."""

from __future__ import annotations

import dataclasses
import glob
import os
import pathlib
import shutil
import subprocess

VERSIONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
MACHINES = ["x86_64", "aarch64"]
GLIBC = "2.28"

# Prints the version and the directory of Python.h.
QUESTION = "import sys, sysconfig; print('%d.%d' % sys.version_info[:2], sysconfig.get_path('include'))"


@dataclasses.dataclass(frozen=True)
class Python:
    """One version: the directories of its headers, separated by semicolons, and the interpreter, if there is one."""

    version: str
    include: str
    interpreter: pathlib.Path | None = None

    @property
    def tag(self) -> str:
        """The tag of wheels, such as cp310."""
        return "cp" + self.version.replace(".", "")

    def headers(self, machine: str, folder: pathlib.Path) -> str:
        """The directories of its headers for a machine, separated by semicolons.

        Debian's pyconfig.h includes MACHINE-linux-gnu/pythonX.Y/pyconfig.h, which is there for this machine only: folder gets a
        link of that name to it.
        """
        name = f"python{self.version}"
        beside = [pathlib.Path(part).parent for part in self.include.split(";")]
        configured = sorted(path.parent for part in beside for path in part.glob(f"*-linux-gnu/{name}/pyconfig.h"))
        if not configured:
            return self.include
        link = folder / f"{machine}-linux-gnu" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(configured[0])
        return f"{self.include};{folder}"


def platform_of(machine: str) -> str:
    """The platform of wheels, in their names."""
    return f"manylinux_{GLIBC.replace('.', '_')}_{machine}"


def find_python(version: str) -> Python | None:
    """The interpreter of a version with headers, on the PATH or one of pyenv's; None if there is none.

    The headers of one version serve all machines: those that the C API depends on, such as the size of long, are equal on 64-bit
    Linux.
    """
    on_path = shutil.which(f"python{version}")
    of_pyenv = sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python")))
    for executable in [*([on_path] if on_path else []), *of_pyenv]:
        found = subprocess.run([executable, "-c", QUESTION], capture_output=True, text=True)
        # pyenv's shims are on the PATH for versions that they then refuse to run.
        if found.returncode != 0:
            continue
        number, include = found.stdout.split(maxsplit=1)
        include = include.strip()
        if number == version and (pathlib.Path(include) / "Python.h").exists():
            return Python(version, include, pathlib.Path(executable))
    return None


def pythons(versions: list[str], headers: list[str]) -> tuple[list[Python], list[str]]:
    """The versions that can be compiled for, and those that lack headers; headers are VERSION=DIRECTORY;DIRECTORY.

    Raises ValueError for headers that name no version of the list or a directory without Python.h.
    """
    given = {}
    for entry in headers:
        version, _, include = entry.partition("=")
        if version not in VERSIONS:
            raise ValueError(f"--headers {entry}: expected one of {', '.join(VERSIONS)} before '='")
        if not any((pathlib.Path(folder) / "Python.h").exists() for folder in include.split(";")):
            raise ValueError(f"--headers {entry}: there is no Python.h in {include}")
        given[version] = Python(version, include)
    found = {version: given.get(version) or find_python(version) for version in versions}
    return [python for python in found.values() if python], [version for version, python in found.items() if not python]
