"""Makes a folder with the C library of glibc 2.28, as far as a linker needs it: what is linked with it runs on every newer glibc.

The Python package ziglang has the symbols of each glibc, from which zig makes shared libraries without code, and the start of
executables (crt1.o). newer_glibc.c defines what Debian's C++ library uses of newer ones.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile

import ziglang

from .targets import GLIBC

SHARED = ["libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"]
LOADER = "libld.so.2"  # zig's name of ld-linux


def make_sysroot(machine: str, folder: pathlib.Path) -> pathlib.Path:
    """The folder, with libc.so and the libraries that it names; machine is x86_64 or aarch64.

    Raises subprocess.CalledProcessError with the tool's message on standard error, and FileNotFoundError if zig makes other files
    than it does in the pinned version.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    zig = pathlib.Path(ziglang.__file__).parent / "zig"
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        (work / "main.c").write_text("int main(void) { return 0; }\n")
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": temporary, "ZIG_LOCAL_CACHE_DIR": temporary}
        target = f"{machine}-linux-gnu.{GLIBC}"
        run([zig, "cc", "-O2", "-fPIE", "-pie", "-target", target, "main.c", "-o", "main"], work, environment)
        for name in [*SHARED, LOADER, "libc.so.6", "libc_nonshared.a"]:
            shutil.copy(only(work, name), folder / name)
        shutil.copy(only(work, "*crt1.o"), folder / "Scrt1.o")
        source = pathlib.Path(__file__).parent / "newer_glibc.c"
        run([f"{machine}-linux-gnu-gcc", "-O2", "-fPIC", "-fvisibility=hidden", "-c", source, "-o", "newer.o"], work)
        run([f"{machine}-linux-gnu-ar", "rcs", folder / "libnewer_glibc.a", "newer.o"], work)
    for name in SHARED:
        (folder / name).with_suffix("").symlink_to(name)
    parts = " ".join(str(folder / name) for name in ["libc.so.6", "libc_nonshared.a", "libnewer_glibc.a"])
    optional = " ".join(str(folder / name) for name in ["libpthread.so.0", "libdl.so.2", LOADER])
    (folder / "libc.so").write_text(f"GROUP ( {parts} AS_NEEDED ( {optional} ) )\n")
    return folder


def run(command: list, folder: pathlib.Path, environment: dict[str, str] | None = None) -> None:
    subprocess.run([str(part) for part in command], cwd=folder, env=environment, check=True)


def only(folder: pathlib.Path, pattern: str) -> pathlib.Path:
    found = sorted(folder.glob(f"o/*/{pattern}"))
    if len(found) != 1:
        raise FileNotFoundError(f"zig has made {len(found)} files {pattern}, expected 1: {[str(path) for path in found]}")
    return found[0]
