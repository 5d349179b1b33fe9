"""Checks of a wheel before it is released: it is small, complete, and runs with the glibc that its name promises."""

from __future__ import annotations

import io
import pathlib
import re
import zipfile

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection, GNUVerSymSection

from .targets import platform_of

# Bytes of a wheel with kernels for CPUs. On x86-64 there are three levels, of 2.5 to 4 MB each: docs/decisions/0011.
LIMITS = {"x86_64": 13_500_000, "aarch64": 7_500_000}
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
LEVELS = {"x86_64": ["v2", "v3", "v4"], "aarch64": ["baseline"]}
NAME = re.compile(r"(?P<project>\w+)-(?P<version>[\w.]+)-(?P<python>\w+)-(?P<abi>\w+)-(?P<platform>[\w.]+)\.whl")
PLATFORM = re.compile(r"manylinux_(?P<major>\d+)_(?P<minor>\d+)_(?P<machine>x86_64|aarch64)")


def faults_of(wheel: pathlib.Path, limits: dict[str, int] = LIMITS) -> list[str]:
    """Reasons against the release of a wheel of paddle_mini, sentences; none if it may be released."""
    parts = NAME.fullmatch(wheel.name)
    if not parts:
        return [f"{wheel.name} is not the name of a wheel"]
    platforms = [PLATFORM.fullmatch(platform) for platform in parts["platform"].split(".")]
    machines = {platform["machine"] for platform in platforms if platform}
    if not all(platforms) or len(machines) != 1:
        return [f"its platform is {parts['platform']}, expected {platform_of('MACHINE')}"]
    promised = min((int(platform["major"]), int(platform["minor"])) for platform in platforms if platform)
    machine = machines.pop()
    size, faults = wheel.stat().st_size, []
    if size > limits.get(machine, size):
        faults.append(f"it has {size:,} bytes, the limit is {limits[machine]:,}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        binaries = {name: data for name in names if (data := archive.read(name))[:4] == b"\x7fELF"}
    for name, data in binaries.items():
        faults += faults_of_binary(name, data, machine, promised)
    faults += strangers(binaries, outside="_?Py" if parts["project"] == "paddle_mini" else ".*paddle_mini")
    return faults + missing_of(names, parts["project"], parts["python"], machine)


def faults_of_binary(name: str, data: bytes, machine: str, promised: tuple[int, int]) -> list[str]:
    """Reasons against a shared library or executable: another machine, or functions of a newer glibc than promised."""
    elf = ELFFile(io.BytesIO(data))
    if elf["e_machine"] != MACHINES[machine]:
        return [f"{name} is for {elf['e_machine']}, expected {MACHINES[machine]}"]
    newest = max(versions_of_glibc(elf), default=(0,))
    if newest <= promised:
        return []
    return [f"{name} needs glibc {'.'.join(map(str, newest))}, newer than {promised[0]}.{promised[1]}"]


def strangers(binaries: dict[str, bytes], outside: str = "_?Py") -> list[str]:
    """Functions that no file of a wheel defines, and no version of the C library: glibc 2.28 lacks them.

    outside: a regular expression for the functions of Python, or of another wheel.

    A linker records the version of every function that it found in a shared library of the system; those without one, and
    those with a version of paddle_mini's library, are left.
    """
    needed, defined = {}, set()
    for name, data in binaries.items():
        elf = ELFFile(io.BytesIO(data))
        symbols, versions = elf.get_section_by_name(".dynsym"), elf.get_section_by_name(".gnu.version")
        unversioned = {"VER_NDX_GLOBAL", "VER_NDX_LOCAL", *own_versions(elf)}
        for number, symbol in enumerate(symbols.iter_symbols() if symbols else []):
            if symbol["st_shndx"] != "SHN_UNDEF":
                defined.add(symbol.name)
            elif symbol["st_info"]["bind"] == "STB_GLOBAL" and version_at(versions, number) in unversioned:
                needed[symbol.name] = name
    missing = sorted(symbol for symbol in set(needed) - defined if not re.match(outside, symbol))
    return [f"{needed[symbol]} calls {symbol}, which the promised glibc lacks" for symbol in missing]


def version_at(versions: GNUVerSymSection | None, number: int) -> int | str:
    """The version of a symbol: a number, or VER_NDX_GLOBAL for none."""
    return versions.get_symbol(number)["ndx"] if versions else "VER_NDX_GLOBAL"


def own_versions(elf: ELFFile) -> set[int]:
    """The numbers of the versions that libraries of paddle_mini give to their functions."""
    return {
        auxiliary["vna_other"]
        for section in elf.iter_sections()
        if isinstance(section, GNUVerNeedSection)
        for library, auxiliaries in section.iter_versions()
        for auxiliary in auxiliaries
        if "paddle_mini" in library.name
    }


def versions_of_glibc(elf: ELFFile) -> list[tuple[int, ...]]:
    """The versions of glibc whose functions a binary names, such as (2, 17)."""
    names = [
        auxiliary.name
        for section in elf.iter_sections()
        if isinstance(section, GNUVerNeedSection)
        for _, auxiliaries in section.iter_versions()
        for auxiliary in auxiliaries
    ]
    return [tuple(map(int, name[6:].split("."))) for name in names if re.fullmatch(r"GLIBC_[\d.]+", name)]


def missing_of(names: list[str], project: str, python: str, machine: str) -> list[str]:
    """One sentence for each missing file without which paddle_mini, or its kernels for GPUs, would not work there."""
    if project != "paddle_mini":
        expected = ["paddle_mini/libpaddle_mini_cuda.so"]
    else:
        suffix = f"cpython-{python[2:]}-{machine}-linux-gnu"
        kernels = [f"paddle_mini/libpaddle_mini_kernels_{level}.so" for level in LEVELS[machine]]
        expected = [
            "paddle_mini/__init__.py",
            f"paddle_mini/_core.{suffix}.so",
            "paddle_mini/libpaddle_mini.so",
            "paddle_mini/libpaddle_mini_optimizer.so",
            "paddle_mini/capi/include/paddle_optimizer.h",
            "paddle_mini/cxx/include/core/op_table.h",
            *kernels,
        ]
    missing = sorted(set(expected) - set(names))
    scripts = {name.rpartition("/")[2] for name in names if ".data/scripts/" in name}
    if project == "paddle_mini" and "pm_run" not in scripts:
        missing.append("pm_run")
    if not any(".dist-info/licenses/" in name for name in names):
        missing.append("the licences")
    return [f"it lacks {name}" for name in missing]
