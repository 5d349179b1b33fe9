# paddle_mini on a GPU beside PyTorch and beside the limits of that GPU, in one table.
"""python benchmarks/gpu.py [--package DIR] [--out DIR] [--only SECTION ...]

Needs nvcc, PyTorch with CUDA 13 in the environment that runs it, and an installed paddle_mini with kernels for GPUs (make cuda).
--package: a directory to import paddle_mini from instead. Ours and the peer take turns, each in a process of its own; a time is
the median of rounds, and ratios above 1 mean that ours is faster. Results go to benchmarks/results/gpu-NAME.md.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import workloads
from measuring import HERE, in_turn, prepared
from worker import Worker, WorkerError

CORES = len(os.sched_getaffinity(0))
OURS, TORCH = [str(HERE / "ours_gpu.py")], [str(HERE / "peers/torch_gpu.py")]
EAGER = [str(HERE / "peers/torch_eager.py"), "--gpu"]
COMPILE = [*EAGER, "--compile"]
ROUNDS, STEPS_BEFORE = 5, 20
# Bytes that a step must read and write for each parameter, on average: an average with this decay is summed up in blocks of 16
# steps, at whose end it is read and written too (math/average_blocks.h).
BYTES = {"sgd": 12, "momentum": 20, "adam": 28, "adam_averaged": 36 + 8 / 16}
MODELS = ("tiny_mlp", "mlp", "lenet", "resnet", "lstm", "gpt")
Row = tuple[str, str, str, str, str]  # figure, ours, beside, ratio, bar


class Bench:
    """Starts workers, and keeps what was measured."""

    def __init__(self, package: str | None, out: Path):
        self.out = out
        path = [str(HERE), *([package] if package else [])]
        self.variables = {"CUDA_VISIBLE_DEVICES": "0", "PYTHONPATH": os.pathsep.join(path)}

    def worker(self, command: list[str], workload: str) -> Worker:
        log = self.out / f"log_{Path(command[0]).stem}_{workload.replace(':', '_')}.txt"
        return prepared(Worker([sys.executable, *command], f"0-{CORES - 1}", log, CORES, self.variables), workload)

    def all_of(self, wanted: dict[str, tuple[list[str], str]]) -> tuple[dict[str, Worker], dict[str, str]]:
        """Workers that are prepared at the same time, by command and workload; and the errors of those that failed."""
        workers: dict[str, Worker] = {}
        failed: dict[str, str] = {}

        def begin(name: str) -> None:
            try:
                workers[name] = self.worker(*wanted[name])
            except WorkerError as error:
                failed[name] = str(error)

        at_once(begin, wanted)
        return {name: workers[name] for name in wanted if name in workers}, failed


def at_once(call: Callable[[str], None], names: Iterable[str]) -> None:
    threads = [threading.Thread(target=call, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def steps_of(worker: Worker, seconds: float = 0.1) -> int:
    """As many steps as take about that long; the first ones warm up."""
    worker.seconds(3)
    worker.seconds(3)
    return max(1, round(seconds / worker.seconds(3)))


def compared(workers: dict[str, Worker], seconds: float = 0.1) -> dict[str, float]:
    counts = {name: steps_of(worker, seconds) for name, worker in workers.items()}
    return in_turn({name: (lambda w=worker, n=counts[name]: w.seconds(n)) for name, worker in workers.items()}, ROUNDS)


def limits(bench: Bench) -> Iterator[Row]:
    names = ("copy", "float32", "tf32", "bf16")
    workers, _ = bench.all_of({name: (TORCH, name) for name in names})
    for name in names:
        seconds = compared({name: workers[name]})[name]
        workers[name].close()
        if name == "copy":
            rate = f"{8 * workloads.GPU_ELEMENTS / seconds / 1e12:.2f} TB/s"
            yield ("copy within the device, read and written", "", rate, "", "")
        else:
            rate = f"{2 * workloads.GPU_PRODUCT**3 / seconds / 1e12:.0f} TFLOP/s"
            yield (f"{name} product of {workloads.GPU_PRODUCT} rows", "", rate, "", "")


def updates(bench: Bench) -> Iterator[Row]:
    """Optimizers on 10^9 parameters, beside a copy of the same bytes and PyTorch's fused ones."""
    for name, each in BYTES.items():
        for tensors in (8, 1000):
            figure = f"{name.replace('_', ', ')}, 10^9 parameters in {tensors:,} tensors"
            workload = f"{name}:{tensors}"
            workers, _ = bench.all_of({"ours": (OURS, workload), "torch": (TORCH, workload), "copy": (TORCH, "copy")})
            workers["ours"].result(STEPS_BEFORE)
            found, expected = workers["ours"].result(0), workers["torch"].result(STEPS_BEFORE)
            time_of = compared(workers, 0.05)
            for worker in workers.values():
                worker.close()
            same = "" if abs(found - expected) < 1e-5 else f"; DIFFERENT RESULT {found} {expected}"
            rate, copied = (size * workloads.GPU_ELEMENTS / time_of[who] for size, who in ((each, "ours"), (8, "copy")))
            shown = f"{time_of['ours'] * 1e3:.2f} ms, {rate / 1e12:.2f} TB/s{same}"
            yield (figure, shown, f"copy {copied / 1e12:.2f} TB/s", f"{rate / copied:.2f}", "0.90")
            beside = f"torch fused {time_of['torch'] * 1e3:.2f} ms"
            yield (figure, "", beside, f"{time_of['torch'] / time_of['ours']:.2f}", "1.15" if "averaged" in name else "")


def together(bench: Bench) -> Iterator[Row]:
    """Adam and an average in one program, beside two."""
    for average in ("average", "plain_average"):
        names = ["adam", average, "adam_averaged" if average == "average" else "adam_plain_average"]
        times = {}
        for name in names:
            worker = bench.worker(OURS, f"{name}:8")
            times[name] = compared({name: worker}, 0.05)[name]
            worker.close()
        shown = ", ".join(f"{name} {seconds * 1e3:.2f} ms" for name, seconds in times.items())
        yield (
            "adam and average, beside separate",
            shown,
            "",
            f"{times[names[2]] / (times[names[0]] + times[names[1]]):.3f}",
            "≤ 0.92",
        )


def free_memory() -> int:
    text = subprocess.check_output(["nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits"], text=True)
    return int(text.split()[0]) << 20


def offload(bench: Bench) -> Iterator[Row]:
    """Averages on the CPU while the GPU trains. The end of a run waits for the last averages, and a step is what 30 more cost."""
    free, workers = [free_memory()], {}
    for name in ("offload_none", "offload_cpu"):
        workers[name] = bench.worker(OURS, name)
        workers[name].seconds(4)
        free.append(free_memory())
    more_steps = {name: (lambda one=one: (40 * one.seconds(40) - 10 * one.seconds(10)) / 30) for name, one in workers.items()}
    times = in_turn(more_steps, 3)
    for one in workers.values():
        one.close()
    more = (free[1] - free[2]) - (free[0] - free[1])
    width, layers, _ = workloads.OFFLOAD
    figure = f"averages on the CPU, {4 * width * width * layers >> 20} MiB of parameters"
    shown = ", ".join(f"{name} {seconds * 1e3:.2f} ms" for name, seconds in times.items())
    yield (f"{figure}: step", shown, "", f"{times['offload_cpu'] / times['offload_none'] - 1:.2%}", "≤ 1 %")
    yield (f"{figure}: memory of the device", f"{more >> 20} MiB more", "", "", "0")


def bare_launches(bench: Bench) -> dict[str, float]:
    """Seconds that the CUDA runtime takes to launch 1,000 kernels, with and without a graph."""
    program = bench.out / "launches"
    subprocess.run(["nvcc", "-arch=native", "-O2", "-o", program, HERE / "launches.cu"], check=True)
    found = {}
    for name, graphs in (("graph", "1"), ("launches", "0")):
        worker = Worker([str(program)], f"0-{CORES - 1}", bench.out / "log_launches.txt", CORES, bench.variables)
        worker.prepare(name)
        worker.result(20)
        found[graphs] = worker.result(200)
        worker.close()
    program.unlink()
    return found


def executor(bench: Bench) -> Iterator[Row]:
    """The host's work for a step with an empty queue, and a chain of tiny operators beside bare launches."""
    bare = bare_launches(bench)
    for graphs in ("1", "0"):
        bench.variables["PM_GRAPHS"] = graphs
        how = "graphs" if graphs == "1" else "no graphs"
        worker = bench.worker(OURS, "submit_chain")
        worker.result(5)
        seconds = worker.result(100)
        beside = f"bare launches {bare[graphs] * 1e6:.0f} µs"
        more = f"{(seconds - bare[graphs]) * 1e3:.2f} µs more each"
        yield (f"submitting a chain of 1,000 operators, {how}", f"{seconds * 1e6:.0f} µs", beside, more, "≤ 2")
        worker.close()
        for name in ("regression", "mlp", "gpt"):
            worker = bench.worker(OURS, f"submit_{name}")
            worker.result(5)
            bar = "≤ 20" if graphs == "1" else ""
            yield (f"submitting a step of {name}, {how}", f"{worker.result(100) * 1e6:.1f} µs", "", "", bar)
            worker.close()
    del bench.variables["PM_GRAPHS"]


def models(bench: Bench) -> Iterator[Row]:
    """Training steps, and losses after the same number of them."""
    runtimes = {"ours": OURS, "eager": EAGER, "compile": COMPILE}
    names = (*MODELS, "chain")
    wanted = {f"{runtime} {name}": (command, name) for name in names for runtime, command in runtimes.items()}
    del wanted["compile chain"]  # it has no module
    workers, failed = bench.all_of(wanted)
    losses: dict[str, float] = {}

    def warm(name: str) -> None:  # PyTorch compiles here
        try:
            losses[name] = workers[name].result(5)
        except WorkerError as error:
            failed[name] = str(error)

    at_once(warm, workers)
    for name in names:
        here = {runtime: workers[f"{runtime} {name}"] for runtime in runtimes if f"{runtime} {name}" in losses}
        times = compared(here)
        shown = ", ".join(f"{runtime} {seconds * 1e3:.3f} ms" for runtime, seconds in times.items())
        found = "losses of step 5: " + ", ".join(f"{losses[f'{runtime} {name}']:.6g}" for runtime in here)
        best = min((seconds for runtime, seconds in times.items() if runtime != "ours"), default=0.0)
        ratio = f"{best / times['ours']:.2f}" if "ours" in times else ""
        yield (f"step of {name}", shown, found, ratio, "1.0")
        for worker in here.values():
            worker.close()
    for what, error in failed.items():
        yield (what, "FAILED", error[:120], "", "")


def fed(bench: Bench) -> Iterator[Row]:
    """Training steps that bring their batch from the host and fetch their loss."""
    bench.variables["PM_BENCH_FED"] = "1"
    for name in ("mlp", "lenet"):
        workers, _ = bench.all_of({runtime: (command, name) for runtime, command in (("ours", OURS), ("eager", EAGER))})
        times = compared(workers)
        shown = ", ".join(f"{runtime} {seconds * 1e3:.3f} ms" for runtime, seconds in times.items())
        yield (f"step of {name}, fed and fetched", shown, "", f"{times['eager'] / times['ours']:.2f}", "1.0")
        for worker in workers.values():
            worker.close()
    del bench.variables["PM_BENCH_FED"]


SECTIONS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "limits": limits,
    "models": models,
    "fed": fed,
    "executor": executor,
    "updates": updates,
    "together": together,
    "offload": offload,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", help="directory to import paddle_mini from")
    parser.add_argument("--only", nargs="+", default=list(SECTIONS), choices=list(SECTIONS))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    arguments: Any = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments.package, arguments.out)
    describe = "from paddle_mini import _core; print(_core.device_text('gpu:0')); print(_core.gpu_text())"
    variables = {**os.environ, **bench.variables}
    about = subprocess.check_output([sys.executable, "-c", describe], env=variables, text=True, cwd=HERE).split("\n")
    slug = re.sub(r"[^a-z0-9]+", "-", about[0].split(",")[0].lower()).strip("-")
    lines = [f"# {about[0]}", "", about[1], "", "| figure | ours | beside | ratio | bar |", "|---|---|---|---|---|"]
    for name in arguments.only:
        begin = time.perf_counter()
        try:
            for row in SECTIONS[name](bench):
                lines.append("| " + " | ".join(row) + " |")
                print(lines[-1], flush=True)
        except Exception as error:
            print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
        print(f"== {name}: {time.perf_counter() - begin:.0f} s", flush=True)
        (arguments.out / f"gpu-{slug}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
