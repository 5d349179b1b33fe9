"""make release: builds the source package and the wheels, checks and tries them, and writes checksums and a bill of materials.

Exit status: 0 if every file that was made may be released, 1 if one was refused; the table says why. Versions of Python without
headers on this machine, and machines without a compiler, are left out and named.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import platform
import shutil
import sys

from .checks import faults_of
from .environments import results_of
from .sbom import bill, sha256
from .settings import ROOT, VERSION
from .sysroot import make_sysroot
from .targets import MACHINES, VERSIONS, Python, pythons
from .wheels import BUILD, build_cuda_wheel, build_offline, build_sdist, build_wheel, why_no_namespace


@dataclasses.dataclass
class Made:
    """A file of the release, reasons against it, and what its trial gave."""

    path: pathlib.Path
    faults: list[str]
    tried: str = "not tried"

    def line(self) -> str:
        return f"{self.path.name:68} {self.path.stat().st_size / 1e6:6.2f} MB  {'; '.join(self.faults) or self.tried}"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__.partition("\n")[0])
    parser.add_argument("--machines", nargs="+", choices=MACHINES, default=MACHINES, help="default: all")
    parser.add_argument("--pythons", nargs="+", choices=VERSIONS, default=VERSIONS, help="default: all")
    parser.add_argument("--headers", nargs="+", default=[], metavar="VERSION=DIRECTORY", help="of others")
    parser.add_argument("--cuda", action="store_true", help="also the wheel of kernels for GPUs; needs nvcc of CUDA 13")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist", help="default: dist; it is emptied")
    return parser.parse_args()


def make_wheels(machine: str, versions: list[Python], out: pathlib.Path) -> list[Made]:
    """The wheels of a machine; those whose interpreter runs here are tried, and must give the same results."""
    sysroot = make_sysroot(machine, BUILD / "sysroot" / machine)
    made, results = [], set()
    for python in versions:
        wheel = build_wheel(machine, python, sysroot, out)
        entry = Made(wheel, faults_of(wheel))
        if machine == platform.machine() and python.interpreter:
            result = results_of([wheel], python.interpreter, BUILD / "environments" / python.tag)
            entry.tried = f"tried, results {result}"
            if results and result not in results:
                entry.faults.append(f"its results {result} are not those of the wheels before it, {results.pop()}")
            results.add(result)
        made.append(entry)
        print(entry.line(), flush=True)
    return made


def make_sdist(out: pathlib.Path) -> Made:
    """The source package, which is built from downloaded packages and tried."""
    entry = Made(build_sdist(out), [])
    if why := why_no_namespace():
        entry.faults.append(f"not built without a network: {why}")
    else:
        wheel = build_offline(entry.path, BUILD / "offline")
        result = results_of([wheel], pathlib.Path(sys.executable), BUILD / "environments/sdist")
        entry.tried = f"built offline and tried, results {result}"
    print(entry.line(), flush=True)
    return entry


def main() -> int:
    arguments = options()
    versions, left_out = pythons(arguments.pythons, arguments.headers)
    machines = [machine for machine in arguments.machines if shutil.which(f"{machine}-linux-gnu-g++")]
    shutil.rmtree(arguments.out, ignore_errors=True)
    arguments.out.mkdir(parents=True)
    print(f"paddle_mini {VERSION}, into {arguments.out}", flush=True)
    made = [make_sdist(arguments.out)]
    for machine in machines:
        made += make_wheels(machine, versions, arguments.out)
        if arguments.cuda and machine == platform.machine():
            wheel = build_cuda_wheel(machine, arguments.out)
            made.append(Made(wheel, faults_of(wheel, limits={})))
    files = [entry.path for entry in made]
    sbom = arguments.out / f"paddle_mini-{VERSION}.cdx.json"
    sbom.write_text(bill(files))
    (arguments.out / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.name}\n" for path in [*files, sbom]))
    for version in left_out:
        print(f"left out: Python {version}, whose headers are not here (--headers {version}=DIRECTORY)")
    for machine in sorted(set(arguments.machines) - set(machines)):
        print(f"left out: {machine}, for which there is no g++: apt-get install g++-{machine.replace('_', '-')}-linux-gnu")
    refused = [entry for entry in made if entry.faults]
    for entry in refused:
        print(f"refused: {entry.path.name}: {'; '.join(entry.faults)}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
