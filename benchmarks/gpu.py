# One short session on a machine with a GPU: builds, checks and times everything, and prints one table.
"""python benchmarks/gpu.py [--eigen DIR] [--protobuf SDIST] [--no-build] [--out DIR]

Needs nvcc of CUDA 13, CMake, ninja, pybind11, numpy, protobuf and pytest; no network where --eigen names a directory with Eigen's
headers and --protobuf the pinned source package of protobuf. Takes less than 8 minutes on 16 cores. torch, where it is
there, is the peer and measures what the memory and the multiplier can do. Results go to benchmarks/results/NAME-OF-THE-GPU.md.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import staged  # noqa: E402

BUILD = ROOT / "build/gpu"
PACKAGE = BUILD / "package"


def build(eigen, protobuf):
    """Compiles for this machine and lays the package out in BUILD/package, without installing it."""
    given = [f"-D{name}={value}" for name, value in (("PM_EIGEN", eigen), ("PM_PROTOBUF_SDIST", protobuf)) if value]
    pybind11 = subprocess.check_output([sys.executable, "-m", "pybind11", "--cmakedir"], text=True).strip()
    subprocess.run(
        [
            "cmake",
            "-G",
            "Ninja",
            "-S",
            ROOT,
            "-B",
            BUILD,
            "-DCMAKE_BUILD_TYPE=Release",
            "-DPM_CUDA=ON",
            f"-Dpybind11_DIR={pybind11}",
            f"-DPython_EXECUTABLE={sys.executable}",
            *given,
        ],
        check=True,
    )
    subprocess.run(["cmake", "--build", BUILD, "--target", "all", "paddle_mini_cuda"], check=True)
    staged.stage(BUILD)


def checked(seconds):
    """Runs the tests on the GPU."""
    command = [sys.executable, ROOT / "tests/staged.py", BUILD, "tests/gpu", "--maxfail=20"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    print(run.stdout[-6000:], run.stderr[-1000:])
    return "passed" if run.returncode == 0 else f"FAILED: {run.stdout.strip().splitlines()[-1] if run.stdout else 'no output'}"


def best(function, repeat=7):
    """The median time of a call, in seconds, after two for warming up."""
    times = []
    for _ in range(repeat + 2):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return sorted(times[2:])[repeat // 2]


def memory_limit(torch, floats):
    """Bytes per second that torch's copy moves on the device, read and written."""
    a, b = torch.empty(floats, device="cuda"), torch.empty(floats, device="cuda")

    def copy():
        for _ in range(20):
            b.copy_(a)
        torch.cuda.synchronize()

    return 20 * 8 * floats / best(copy)


def updates(pm, averages, tensors, floats):
    """A function that runs one update of this many tensors on the GPU, without forward and backward pass."""
    main, scope, exe = pm.Program(), pm.Scope(), pm.Executor(pm.CUDAPlace(0))
    block = main.global_block()

    def variable(name, shape, value):
        block.create_var(name, dtype="float32", shape=shape, persistable=True)
        fill = pm.Program()
        fill.global_block().create_var(name, dtype="float32", shape=shape, persistable=True)
        fill.global_block().append_op("fill_constant", {}, {"Out": name}, {"shape": shape, "value": value, "dtype": 5})
        exe.run(fill, scope=scope)
        return name

    rate, weight = variable("rate", [1], 1e-6), variable("weight", [1], 0.01)
    shape = [floats // tensors]
    for i in range(tensors):
        p, g = variable(f"p{i}", shape, 1.0), variable(f"g{i}", shape, 0.5)
        block.append_op("sgd", {"Param": p, "Grad": g, "LearningRate": rate}, {"ParamOut": p})
    for i in range(tensors if averages else 0):
        a = variable(f"a{i}", shape, 1.0)
        block.append_op("parameter_average", {"Param": f"p{i}", "Average": a, "Weight": weight}, {"AverageOut": a})

    def run():
        exe.run(main, scope=scope)
        scope.settle()

    return run


def rows(torch, pm):
    """(figure, value with unit, peer or limit, ratio)."""
    import ours

    floats = 1 << 28
    limit = memory_limit(torch, floats) if torch else None
    for name, averages, tensors, count in (
        ("sgd, 8 tensors", False, 8, 12),
        ("sgd, 1,000 tensors", False, 1000, 12),
        ("sgd and average, 8 tensors", True, 8, 24),
        ("sgd and average, 1,000 tensors", True, 1000, 24),
    ):
        seconds = best(updates(pm, averages, tensors, floats))
        rate = count * floats / seconds
        yield (
            f"{name}, {floats >> 20} Mi floats",
            f"{seconds * 1e3:.3f} ms, {rate / 1e12:.2f} TB/s",
            f"memory {limit / 1e12:.2f} TB/s" if limit else "",
            f"{limit / rate:.2f} x ideal" if limit else "",
        )
    for name in ("tiny_mlp", "mlp", "lenet", "lstm", "resnet", "gpt"):
        try:
            step = getattr(ours, name)()
            seconds = best(lambda: step(5)) / 5
            yield (f"step of {name}", f"{seconds * 1e3:.3f} ms", "", "")
        except Exception as error:
            yield (f"step of {name}", "failed", str(error).splitlines()[0][:80], "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--eigen", help="directory of Eigen's headers")
    parser.add_argument("--protobuf", help="source package of protobuf")
    parser.add_argument("--no-build", action="store_true", help="BUILD/package is there already")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results")
    arguments = parser.parse_args()
    start = time.time()
    if not arguments.no_build:
        build(arguments.eigen, arguments.protobuf)
    built = time.time() - start
    sys.path[:0] = [str(PACKAGE), str(ROOT / "benchmarks")]
    os.environ["PM_BENCH_PLACE"] = "gpu"
    tests = checked(300)
    import paddle_mini as pm
    from paddle_mini import _core

    try:
        import torch
    except ImportError:
        torch = None
    name = _core.device_text("gpu:0")
    lines = [
        f"# {name}",
        "",
        _core.gpu_text(),
        "",
        f"Built in {built:.0f} s; tests/gpu: {tests}.",
        "",
        "| figure | measured | limit | ratio |",
        "|---|---|---|---|",
    ]
    for row in rows(torch, pm):
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    arguments.out.mkdir(parents=True, exist_ok=True)
    slug = re.sub(r"[^a-z0-9]+", "-", name.split(",")[0].lower()).strip("-")
    (arguments.out / f"{slug}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
