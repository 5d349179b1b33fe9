# Convolutions of well-known networks beside oneDNN, as PyTorch calls it, or their gradients: every distinct shape in turn.
#
#   python benchmarks/convolutions.py [--images 1] [--threads 1] [--networks ResNet-18 ...] [--seconds 0.5]
#                                     [--gradients image filter]
#
# Each runtime is a process; for each shape they take turns of about a millisecond, and the least time of each is compared,
# because the machine's other work only adds to a time. The peer is the best of oneDNN's layouts
# (peers/torch_convolutions.py).
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from convolution_shapes import NETWORKS, Shape
from environments import FOLDER, compiled, python_of
from run import cpu_facts
from worker import Worker, WorkerError

HERE = Path(__file__).parent
LAYOUTS = ("contiguous", "channels_last", "packed")
# PyTorch returns the memory of each result to the system; glibc keeps it with these.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "4294967296", "MALLOC_TOP_PAD_": "0"}


class Timed(NamedTuple):
    """The least milliseconds of a step of each runtime, and the speed of multiply-adds at that time in GFLOP/s."""

    shape: Shape
    flops: int
    times: dict[str, float]
    peak: float

    @property
    def peer(self) -> float:
        return min(time for name, time in self.times.items() if name != "ours")


class Runtimes:
    """The processes of one number of threads."""

    def __init__(self, cpus: str, threads: int, layouts: Iterable[str], gradients: Sequence[str]):
        os.environ.update(KEEP_MEMORY)
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.products = max(1, len(gradients))  # as many multiply-adds as the convolution, for each gradient
        commands = {"ours": [sys.executable, str(HERE / "ours_convolutions.py"), *gradients]}
        for layout in layouts:
            commands[layout] = [str(python_of("torch")), str(HERE / "peers" / "torch_convolutions.py"), layout, *gradients]
        commands["fma"] = compiled(HERE / "fma.c")
        self.workers = {
            name: Worker(command, cpus, FOLDER / f"convolutions_{name}.log", threads) for name, command in commands.items()
        }

    def time(self, shape: Shape, images: int, seconds: float) -> Timed:
        """Rounds until `seconds` for each runtime are over, at least two."""
        least: dict[str, float] = {}
        steps: dict[str, int] = {}
        for name, worker in self.workers.items():
            try:
                worker.prepare(shape.workload(images))
                worker.seconds(1)
                steps[name] = max(1, round(0.001 / worker.seconds(1)))
            except WorkerError as error:
                print(f"{name}: {error}", file=sys.stderr)
        spent = 0.0
        rounds = 0
        while spent < seconds * len(steps) or rounds < 2:
            rounds += 1
            for name, count in steps.items():
                self.workers[name].seconds(1)  # the other runtimes have filled the caches
                time = self.workers[name].seconds(count)
                spent += time * count
                least[name] = min(least.get(name, time), time)
        peak = self.workers["fma"].result(1) / least.pop("fma") / 1e9
        return Timed(shape, shape.flops * images * self.products, {name: 1e3 * time for name, time in least.items()}, peak)

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()


def table(rows: Sequence[Timed], networks: Sequence[str], runtimes: Sequence[str]) -> str:
    """A row for each shape, then the sums of each network, weighted by how often it computes a shape."""
    lines = [["convolution", "times", "ours ms", "GFLOP/s", "% of peak", *[f"{name} ms" for name in runtimes], "ratio"]]
    for row in rows:
        uses = sum(NETWORKS[name][row.shape] for name in networks)
        speed = row.flops / row.times["ours"] / 1e6
        cells = [str(row.shape), str(uses), f"{row.times['ours']:.3f}", f"{speed:.0f}", f"{100 * speed / row.peak:.0f}"]
        cells += [f"{row.times[name]:.3f}" if name in row.times else "" for name in runtimes]
        lines.append([*cells, f"{row.peer / row.times['ours']:.2f}"])
    for network in networks:
        counts = NETWORKS[network]
        sums = {name: sum(counts[row.shape] * row.times.get(name, row.peer) for row in rows) for name in ("ours", *runtimes)}
        best = sum(counts[row.shape] * row.peer for row in rows)
        flops = sum(counts[row.shape] * row.flops for row in rows)
        peak = max(row.peak for row in rows)
        speed = flops / sums["ours"] / 1e6
        cells = [f"**{network}**", str(counts.total()), f"{sums['ours']:.2f}", f"{speed:.0f}", f"{100 * speed / peak:.0f}"]
        lines.append([*cells, *[f"{sums[name]:.2f}" for name in runtimes], f"{best / sums['ours']:.2f}"])
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Convolutions of well-known networks beside oneDNN.")
    parser.add_argument("--images", type=int, nargs="+", default=[1], help="images of a batch")
    parser.add_argument("--threads", type=int, default=1, help="of each runtime, which has as many CPUs (default 1)")
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--layouts", nargs="*", choices=LAYOUTS, default=LAYOUTS, help="of the peer")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each shape and runtime (default 0.3)")
    parser.add_argument(
        "--gradients", nargs="+", default=[], choices=["image", "filter"], help="with respect to these, not the convolution"
    )
    parser.add_argument("--match", default="", help="only shapes whose names contain this")
    parser.add_argument("--cpus", help="every process runs on these, in taskset's notation (default: the last ones)")
    arguments = parser.parse_args()
    cpus = arguments.cpus or ",".join(map(str, sorted(os.sched_getaffinity(0))[-arguments.threads :]))
    layouts = [layout for layout in arguments.layouts if layout != "packed" or not arguments.gradients]  # it has none
    runtimes = Runtimes(cpus, arguments.threads, layouts, arguments.gradients)
    shapes = {shape: None for network in arguments.networks for shape in NETWORKS[network] if arguments.match in str(shape)}
    cpu, threads = cpu_facts(), f"{arguments.threads} thread{'s' * (arguments.threads > 1)}"
    model = f"{cpu.get('model name')} (family {cpu.get('cpu family')}, model {cpu.get('model')})"
    gradients = " and the ".join(arguments.gradients)
    subject = f"Gradients of convolutions by the {gradients}" if gradients else "Forward convolutions"
    print(f"# {subject} in float32: {model}, {threads}\n")
    for images in arguments.images:
        rows = [runtimes.time(shape, images, arguments.seconds) for shape in shapes]
        peak = max(row.peak for row in rows)
        heading = f"## {images} image{'s' * (images > 1)}\n\nMultiply-adds in registers reach {peak:.0f} GFLOP/s."
        print(f"{heading}\n\n{table(rows, arguments.networks, layouts)}\n", flush=True)
    runtimes.close()


if __name__ == "__main__":
    main()
