# Libraries of GPU kernels with one operator, compiled for the emulation on the host (cpp/cuda/on_host.h): small enough
# to be built by a test.
from __future__ import annotations

import pickle
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from facts import Case
from optimizer_builds import ROOT, run, tool
from paddle_mini import _core

CPP = ROOT / "cpp"
PACKAGE = Path(_core.__file__).parent

# Runs in a separate process, because a kernel that dereferences addresses of the GPU ends it.
RUN_CASES = """
import pickle, sys
said = open(sys.argv[1], "rb")
sys.path[:] = pickle.load(said)
import paddle_mini as pm
from paddle_mini.testing.one_op import OneOp
for op_type, inputs, attrs, counts in pickle.load(said):
    OneOp(op_type, inputs, attrs, counts, aliased=False, place=pm.CUDAPlace(0)).run()
"""


def compiled(folder: Path, name: str, text: str) -> Path:
    """The object file compiled from this source text."""
    (folder / f"{name}.cc").write_text(text)
    words = ["-std=c++17", "-O0", "-w", "-fPIC", "-DPM_GPU", "-DPM_CUDA_ON_HOST", f"-I{CPP}"]
    run(tool("c++"), *words, "-c", folder / f"{name}.cc", "-o", folder / f"{name}.o")
    return folder / f"{name}.o"


@cache
def runtime() -> tuple[list[Path], tempfile.TemporaryDirectory[str]]:
    """The contents of all these libraries besides operators. The folder lives as long as the process."""
    folder = tempfile.TemporaryDirectory(prefix="paddle_mini_gpu_")
    with ThreadPoolExecutor(2) as threads:
        files = sorted(CPP.glob("cuda/*.cc"))
        return list(threads.map(lambda file: compiled(Path(folder.name), file.stem, f'#include "{file}"\n'), files)), folder


FOR_GPU = {"LAUNCHERS": "math/gpu/{}.h", "KERNELS": "ops/{}_gpu.h", "FAMILY": "ops/family/{}_gpu.h"}
"""The files that the macros of cpp/core/target.h include."""


def included(file: Path) -> Iterator[Path]:
    """The headers of cpp/math and cpp/ops that a file includes, and the sources that define their functions."""
    text = file.read_text()
    names = re.findall(r'#include "((?:math|ops)/.*?)"', text)
    names += [FOR_GPU[macro].format(name) for macro, name in re.findall(r"#include PM_(\w+)\((\w+)\)", text)]
    for header in (CPP / name for name in names):
        sources = (header.with_suffix(".cc"), CPP / "math" / "gpu" / f"{header.stem}.cu")
        yield from (path for path in (header, *sources) if path.exists())


def sources_below(file: Path) -> Iterator[Path]:
    """The sources of cpp/math and cpp/ops/family whose headers the file includes, and those that these need."""
    reached, left = {file}, [file]
    while left:
        found = set(included(left.pop()))
        left += found - reached
        reached |= found
    yield from sorted(path for path in reached - {file} if path.suffix != ".h")


def library_of(op_type: str, folder: Path) -> Path:
    """A library with the operators of this file of cpp/ops, with schemas that state that they run on GPUs."""
    file = CPP / "ops" / f"{op_type}.cc"
    text = "".join(f'#include "{path}"\n' for path in sources_below(file))
    text += re.sub(r"\.cpu_only\(.*?\)", ".on_gpu()", file.read_text())
    text += (
        f'extern "C" void paddle_mini_define_gpu_operators(paddle_mini::OpTable& ops) {{ paddle_mini::define_{op_type}(ops); }}\n'
    )
    objects = [*runtime()[0], compiled(folder, op_type, text)]
    library = folder / "library.so"
    needed = [f"-L{PACKAGE}", f"-Wl,-rpath,{PACKAGE}", "-lpaddle_mini", "-ldl"]
    run(tool("c++"), "-shared", "-Wl,-z,defs", "-o", library, *objects, *needed)
    return library


def check_runs(op_type: str, cases: Iterable[Case]) -> None:
    """Raises AssertionError if the operator does not compile for GPUs, or does not run there."""
    with tempfile.TemporaryDirectory() as folder:
        library, said = library_of(op_type, Path(folder)), Path(folder) / "cases"
        said.write_bytes(pickle.dumps(sys.path) + pickle.dumps(list(cases)))
        site = ["-S"] if sys.flags.no_site else []  # tests/staged.py
        run(sys.executable, *site, "-c", RUN_CASES, said, env={"PM_CUDA_LIBRARY": str(library)})
