# The cost of a call of the C interface beside the executor's own; threads that call it, and lives of its objects.
"""python benchmarks/c_interface.py

The calls alternate in one process, on one thread, in CPU time. threads.c of the tests checks each result of its calls, and
that the second half of the lives needs no more memory than the first. Writes results/c_interface.md.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import paddle_mini as pm

ROOT = Path(__file__).resolve().parents[1]
ROWS, INPUTS = 2, 6
BAR = 2.0  # µs over the executor
CALLS, LIVES = 10_000, 100_000


def saved_model(prefix: Path) -> None:
    """The model of the C interface's tests: two small layers."""
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()), pm.unique_name.guard():
        x = pm.layers.data("x", [-1, INPUTS])
        logits = pm.layers.fc(pm.layers.fc(x, 5, act="tanh"), 3)
        pm.Executor().run(pm.default_startup_program())
        pm.io.save_inference_model(prefix, [x], [logits])


def compiled(source: Path, folder: Path) -> Path:
    built = ROOT / "build"
    headers = [f"-I{path}" for path in (ROOT / "cpp", ROOT / "cpp/capi", built, built / "proto")]
    program = folder / source.stem
    compiler = ["g++", "-std=c++17"] if source.suffix == ".cc" else ["gcc", "-std=gnu99"]
    command = [*compiler, "-O2", "-pthread", *headers, str(source), "-o", str(program), f"-L{built}", "-lpaddle_mini"]
    subprocess.run([*command, f"-Wl,-rpath,{built}"], check=True)
    return program


def seconds_of(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - begin


def main() -> None:
    cpu = next(line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line)
    lines = [
        f"# Calls of the C interface: {cpu}",
        "",
        f"`benchmarks/c_interface.py`: two small layers, {INPUTS} inputs, {ROWS} rows, one thread. CPU time of a call: the best "
        "and the median of 40 series of 5,000 calls that alternate. A call takes an array of the caller, and copies its output.",
        "",
        "| call | best, µs | median, µs | over the executor, µs | bar |",
        "|---|---:|---:|---:|---|",
    ]
    met = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        saved_model(folder / "m")
        calls = compiled(ROOT / "benchmarks/c_interface.cc", folder)
        command = [str(calls), str(folder / "m"), str(ROWS), str(INPUTS)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        own = 0.0
        for line in printed.splitlines():
            way, best, median = line.split()
            own = own or float(median)
            over = (float(median) - own) / 1000
            met = met and over <= BAR
            lines.append(f"| `{way}` | {float(best) / 1000:.2f} | {float(median) / 1000:.2f} | {over:.2f} | ≤ {BAR:.0f} |")
        threads = str(compiled(ROOT / "tests/c_interface/border/threads.c", folder))
        shared = seconds_of([threads, str(folder / "m"), "8", str(CALLS), "0"])
        lives = seconds_of([threads, str(folder / "m"), "1", "0", str(LIVES)])
    lines += [
        "",
        f"8 threads of {CALLS:,} calls each of one predictor: every result right, {shared:.1f} s with loading. {2 * LIVES:,} "
        f"lives (a clone of a predictor, a scope and values are made, run once and released) in four threads, {lives:.1f} s: the "
        f"memory in use after the second {LIVES:,} is that after the first, to 64 KB.",
    ]
    print("\n".join(lines))
    (Path(__file__).parent / "results/c_interface.md").write_text("\n".join(lines) + "\n")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
