"""Builds the wheels and the source package of a release."""

from __future__ import annotations

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from wheel.wheelfile import WheelFile

from .settings import BUILD_REQUIRES, PROJECT, ROOT, VERSION
from .targets import Python, platform_of

HERE = ROOT / "python/release"
BUILD = ROOT / "build/release"
# Runs a command in a network namespace that has no network.
NO_NETWORK = ["unshare", "--map-root-user", "--net"]


def build_wheel(machine: str, python: Python, sysroot: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The audited wheel of one version of Python, in the folder.

    The wheels of a machine share a build folder, so its kernels are compiled once. Raises subprocess.CalledProcessError, with the
    tool's message on standard error, if it does not compile or needs a newer glibc.
    """
    made = BUILD / "unaudited" / f"{machine}-{python.tag}"
    shutil.rmtree(made, ignore_errors=True)
    defines = {
        "CMAKE_TOOLCHAIN_FILE": HERE / "glibc.cmake",
        "PM_MACHINE": machine,
        "PM_SYSROOT": sysroot,
        "PM_PYTHON": python.version,
        "PM_PYTHON_INCLUDE": python.headers(machine, BUILD / "headers"),
    }
    settings = [f"build-dir={BUILD / machine}", f"wheel.tags={python.tag}-{python.tag}-linux_{machine}"]
    settings += [f"cmake.define.{name}={value}" for name, value in defines.items()]
    options = [part for setting in settings for part in ("--config-settings", setting)]
    run("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", made, *options, ROOT)
    (wheel,) = made.glob("*.whl")
    return audit(wheel, machine, folder)


def audit(wheel: pathlib.Path, machine: str, folder: pathlib.Path) -> pathlib.Path:
    """The wheel with the name of the platform that it satisfies, compressed as far as zlib can."""
    before = set(folder.glob("*.whl"))
    # auditwheel takes names of platforms of its own machine only; of others it finds the oldest that the wheel satisfies.
    name = platform_of(machine) if machine == platform.machine() else "auto"
    options = ["--only-plat", "--plat", name, "--zip-compression-level", "9", "--wheel-dir", folder]
    # Kernels for newer CPUs are libraries of their own, which are loaded only there.
    # pm_run, which is installed elsewhere, and kernels for GPUs use the library that is in the folder of the package.
    options += ["--disable-isa-ext-check", "--exclude", "libpaddle_mini.so"]
    if machine != platform.machine():
        options += ["--ldpaths", f"/usr/{machine}-linux-gnu/lib"]
    run("-m", "auditwheel", "repair", *options, wheel)
    (made,) = set(folder.glob("*.whl")) - before
    return made


def build_sdist(folder: pathlib.Path) -> pathlib.Path:
    """The source package, in the folder."""
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    run("-c", code, folder, cwd=ROOT)
    return folder / f"paddle_mini-{VERSION}.tar.gz"


def build_offline(sdist: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """A wheel of the source package, from downloaded packages alone, with kernels for this machine's CPU.

    What it needs is downloaded first: the packages of [build-system], and protobuf's source package, which CMake fetches by pip.
    Raises subprocess.CalledProcessError if the build needs more. why_no_namespace() must be empty.
    """
    shutil.rmtree(folder, ignore_errors=True)
    packages = folder / "packages"
    download = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest", packages]
    run(*download, *BUILD_REQUIRES)
    protobuf = re.search(r"set\(PM_PROTOBUF_VERSION (\S+)\)", (ROOT / "proto/CMakeLists.txt").read_text())[1]
    run(*download, "--no-deps", "--no-binary=protobuf", f"protobuf=={protobuf}")
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(packages)}
    options = ["--quiet", "--no-deps", "--wheel-dir", folder, "--config-settings", "cmake.define.PM_ALL_LEVELS=OFF"]
    run("-m", "pip", "wheel", *options, sdist, environment=environment, inside=NO_NETWORK)
    (wheel,) = folder.glob("*.whl")
    return wheel


def why_no_namespace() -> str:
    """Why this user may not run commands without a network, as in a container without that privilege; "" if they may."""
    if not shutil.which(NO_NETWORK[0]):
        return f"{NO_NETWORK[0]} is missing"
    return subprocess.run([*NO_NETWORK, "true"], capture_output=True, text=True).stderr.strip()


CUDA_METADATA = """Metadata-Version: 2.4
Name: paddle_mini_cuda13
Version: {version}
Summary: Kernels of paddle_mini for NVIDIA GPUs, CUDA 13
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: {python}
Requires-Dist: paddle_mini=={version}
{libraries}"""
CUDA_WHEEL = "Wheel-Version: 1.0\nGenerator: paddle_mini\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"


def write_cuda_wheel(library: pathlib.Path, tag: str, folder: pathlib.Path) -> pathlib.Path:
    """The wheel paddle_mini_cuda13, which adds one library to the folder of an installed paddle_mini of the same version.

    library: libpaddle_mini_cuda.so, linked as the wheels of paddle_mini are. NVIDIA's libraries are those of the extra cuda13.
    """
    libraries = "".join(f"Requires-Dist: {name}\n" for name in PROJECT["optional-dependencies"]["cuda13"])
    info = f"paddle_mini_cuda13-{VERSION}.dist-info"
    path = folder / f"paddle_mini_cuda13-{VERSION}-py3-none-{tag}.whl"
    path.unlink(missing_ok=True)
    with WheelFile(path, "w") as archive:
        archive.write(library, "paddle_mini/libpaddle_mini_cuda.so")
        metadata = CUDA_METADATA.format(version=VERSION, python=PROJECT["requires-python"], libraries=libraries)
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", CUDA_WHEEL.format(platform=tag))
        archive.write(ROOT / "LICENSE", f"{info}/licenses/LICENSE")
    return path


def build_cuda_wheel(machine: str, folder: pathlib.Path) -> pathlib.Path:
    """Compiles the kernels for GPUs with nvcc, in the build folder of the machine's wheels, and packs them."""
    cmake = [pathlib.Path(sys.executable).parent / "cmake"]
    call(*cmake, "-DPM_CUDA=ON", f"-DCMAKE_CUDA_HOST_COMPILER={shutil.which(f'{machine}-linux-gnu-g++')}", BUILD / machine)
    call(*cmake, "--build", BUILD / machine, "--target", "paddle_mini_cuda")
    made = BUILD / "unaudited" / f"{machine}-cuda"
    made.mkdir(parents=True, exist_ok=True)
    (library,) = (BUILD / machine).rglob("libpaddle_mini_cuda.so")
    return audit(write_cuda_wheel(library, f"linux_{machine}", made), machine, folder)


def run(
    *arguments: object, inside: Sequence[str] = (), cwd: pathlib.Path | None = None, environment: dict[str, str] | None = None
) -> None:
    """Runs this Python, with its tools, which auditwheel looks for on the PATH; inside: a command that runs it."""
    environment = dict(environment or os.environ)
    environment["PATH"] = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    call(*inside, sys.executable, *arguments, cwd=cwd, environment=environment)


def call(*command: object, cwd: pathlib.Path | None = None, environment: dict[str, str] | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd, env=environment)
