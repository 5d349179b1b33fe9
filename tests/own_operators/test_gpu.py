"""pm.load_op on GPUs: a file is compiled for them too. On a GPU that the CPU emulates, a stand-in for nvcc compiles for the
emulation; nvcc itself, where it is, compiles the same command."""

import json
import shutil
import subprocess
import sys

import pytest

import gpu_builds
from own_operators.children import CUBE, prepared_compiler, printed
from thorough import thorough

pytestmark = thorough  # the runtime of GPUs is compiled

# Drops what only nvcc knows.
STAND_IN = f"""#!{sys.executable}
import os, sys
words, kept = sys.argv[1:], []
while words:
    word = words.pop(0)
    if word in ("-gencode", "-cudart", "-x"):
        words.pop(0)
    elif word == "-Xcompiler":
        kept += words.pop(0).split(",")
    elif word == "-Xlinker":
        kept.append("-Wl," + words.pop(0))
    elif not word.startswith(("--expt", "-fmad", "-diag")):
        kept.append(word)
compiles = "-O2" in kept
open(os.environ["CALLS"], "a").write("compiled\\n" * compiles)
os.execvp("c++", ["c++", *kept, *(["-DPM_CUDA_ON_HOST", "-w", "-O0"] * compiles)])
"""
RUN = """
cube = pm.load_op('cube.cc')
x = pm.layers.data('x', [-1, 2])
x.stop_gradient = False
y = cube(x)
(gradient,) = pm.gradients([y], [x])
exe = pm.Executor(pm.CUDAPlace(0), allow_cpu_fallback=True)
for value in exe.run(feed={'x': np.array([[2, -3]], 'float32')}, fetch_list=[y, gradient]):
    print(value.tolist())
plan = exe.plan_text(pm.default_main_program(), {'x': np.ones((1, 2), 'float32')}, [y, gradient])
print([line for line in plan.splitlines() if ' cpu cube' in line])
print(sum('gpu:0 cube' in line for line in plan.splitlines()))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """An emulated GPU's kernels of one operator of the same family."""
    return gpu_builds.library_of("relu", tmp_path_factory.mktemp("library"))


@pytest.fixture
def gpu(library, tmp_path):
    (tmp_path / "cube.cc").write_text(CUBE)
    (tmp_path / "stand_in").write_text(STAND_IN)
    (tmp_path / "stand_in").chmod(0o755)
    return {
        "PM_CUDA_LIBRARY": str(library),
        "PM_CXX": prepared_compiler(),
        "PM_NVCC": str(tmp_path / "stand_in"),
        "CALLS": str(tmp_path / "calls.txt"),
    }


def run(code, folder, gpu, **more):
    return printed(code, folder, **{**gpu, **more})


def calls(folder):
    path = folder / "calls.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_it_runs_on_the_gpu(gpu, tmp_path):
    """With its gradient; the second process finds the library."""
    for _ in range(2):
        assert run(RUN, tmp_path, gpu) == ["[[8.0, -27.0]]", "[[12.0, 27.0]]", "[]", "2"]
    assert calls(tmp_path) == 1
    assert sorted(path.name.split("-")[1] == "gpu" for path in (tmp_path / "compiled").iterdir()) == [False, True]


def test_without_nvcc_it_runs_on_the_cpu(gpu, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/c++").symlink_to(shutil.which("c++"))
    for tool in ("env", "as", "ld"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    code = """
y = pm.load_op('cube.cc')(pm.layers.data('x', [-1, 2]))
feed = {'x': np.array([[2, -3]], 'float32')}
print(pm.Executor(pm.CUDAPlace(0), allow_cpu_fallback=True).run(feed=feed, fetch_list=[y])[0].tolist())
try:
    pm.Executor(pm.CUDAPlace(0)).run(feed=feed, fetch_list=[y])
except pm.DeviceError as error:
    print(str(error).splitlines()[0])
"""
    result, error = run(code, tmp_path, gpu, PM_NVCC="", PATH=str(tmp_path / "bin"))
    assert result == "[[8.0, -27.0]]" and "cube" in error and calls(tmp_path) == 0


def test_an_operator_for_cpus_is_not_compiled_for_gpus(gpu, tmp_path):
    (tmp_path / "cube.cc").write_text(CUBE + "// A gradient that is cpu_only would be here.\n")
    assert run("print(pm.load_op('cube.cc').__name__)", tmp_path, gpu) == ["cube"] and calls(tmp_path) == 0


def test_a_file_that_is_wrong_for_gpus_adds_nothing(gpu, tmp_path):
    code = """
before = pm._core.op_types()
try:
    pm.load_op('cube.cc')
except pm.ProgramError as error:
    print(error)
assert pm._core.op_types() == before
"""
    (tmp_path / "cube.cc").write_text("#ifdef PM_GPU\n#error not for GPUs\n#endif\n" + CUBE)
    error = "\n".join(run(code, tmp_path, gpu))
    assert "cube.cc does not compile:\ncube.cc:2:2: error: #error not for GPUs" in error and "added at <string>" in error
    assert "there is no such program" in "\n".join(run(code, tmp_path, gpu, PM_NVCC="/nowhere/nvcc"))


def test_nvcc_compiles_it(tmp_path):
    """To an object file: it is linked with the library of GPU kernels, which `make cuda` builds. Not run: there may be no GPU."""
    if not shutil.which("nvcc"):
        pytest.skip("there is no nvcc")
    code = """
import json
from paddle_mini.own_operators import compiler
print(json.dumps(compiler._gpu_command(pm._core.kernel_library()['path'])[0]))
"""
    command = json.loads(printed(code, tmp_path)[0])
    (tmp_path / "operator.cc").write_text(CUBE)
    words = command[: command.index("-shared")]
    done = subprocess.run([*words, "-c", "-o", "cube.o"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    data = (tmp_path / "cube.o").read_bytes()
    assert b"sm_80" in data and b"sm_90" in data
