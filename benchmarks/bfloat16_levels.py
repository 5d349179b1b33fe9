# float32 and bfloat16 by each of the CPU's instructions for products: matrices, convolutions, and steps of networks.
"""Each level of kernels (PM_CPU) is a process; for each workload they take turns, and CPU times are compared.

    python benchmarks/bfloat16_levels.py [--rounds 9] [--only step ...]

The limit of products of bfloat16 in tiles is the speed of their instruction alone, operands in registers (tiles.c), which is
measured in turn with the products: a machine whose cores are shared does not always have it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator

from environments import FOLDER, compiled
from measuring import HERE
from paddle_mini import _core
from run import cpu_facts, slug
from worker import Worker

LEVELS = [level for level in ("v4-amx", "v4-bf16", "v4") if level in _core.cpu_levels()]
PRODUCTS = [(1024, 1024, 1024), (512, 512, 512), (256, 1024, 256), (16, 1024, 1024), (1, 1024, 1024), (1024, 16, 1024)]
PRODUCTS += [(1024, 1024, 32), (64, 64, 32)]
# Images, channels, filters, window, stride, size: layers of the ResNet of workloads.py, of ResNet-18 and ResNet-50.
CONVOLUTIONS = [
    (64, 16, 16, 3, 1, 32),
    (64, 16, 32, 3, 2, 32),
    (64, 32, 32, 3, 1, 16),
    (8, 3, 64, 7, 2, 224),
    (8, 64, 64, 3, 1, 56),
    (8, 128, 128, 3, 1, 28),
    (8, 128, 256, 3, 2, 28),
    (8, 256, 256, 3, 1, 14),
    (8, 512, 512, 3, 1, 7),
    (8, 256, 64, 1, 1, 56),
    (8, 1024, 256, 1, 1, 14),
    (8, 256, 512, 1, 2, 56),
]


def workloads() -> Iterator[tuple[str, str, str, float]]:
    """Name, the workload of float32, that of bfloat16, floating-point operations."""
    for m, n, k in PRODUCTS:
        sizes = f"{m},{n},{k}"
        yield f"product of {m} x {k} and {k} x {n}", f"product,float32,{sizes}", f"product,bfloat16,{sizes}", 2.0 * m * n * k
    for images, channels, filters, window, stride, size in CONVOLUTIONS:
        out = (size + window // 2 * 2 - window) // stride + 1
        flops = 2.0 * images * filters * channels * window**2 * out**2
        for direction in ("forward", "image", "filters"):
            sizes = f"{direction},{images},{channels},{filters},{window},{stride},{size}"
            name = f"{images} x {channels}→{filters}, {window}x{window} of {size}, stride {stride}: {direction}"
            yield name, f"convolution,float32,{sizes}", f"convolution,bfloat16,{sizes}", flops
    for network in ("gpt", "bert", "resnet", "lenet"):
        for precision in ("O1", "O2"):
            yield f"step of {network}, {precision}", f"step,{network},float32", f"step,{network},{precision}", 0.0


class Runtimes:
    """float32 on the best level, bfloat16 on each one, and the instruction alone."""

    def __init__(self) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        ours = [sys.executable, str(HERE / "ours_bfloat16.py")]
        commands = {"float32": ours} | {level: ["env", f"PM_CPU={level}", *ours] for level in LEVELS}
        if "v4-amx" in LEVELS:
            commands["tiles"] = compiled(HERE / "tiles.c")
        self.workers = {name: Worker(command, "0", FOLDER / f"bfloat16_{name}.log") for name, command in commands.items()}

    def times(self, wide: str, narrow: str, rounds: int) -> dict[str, float]:
        """The median CPU seconds of each, and of the ratio of float32 and each, as `name/`."""
        for name, worker in self.workers.items():
            worker.prepare(wide if name == "float32" else narrow)
        steps = {name: max(1, int(0.03 / max(worker.result(1), 1e-7))) for name, worker in self.workers.items()}
        steps["tiles"] = 1
        rows = [{name: worker.result(steps[name]) for name, worker in self.workers.items()} for _ in range(rounds)]
        found = {name: statistics.median(row[name] for row in rows) for name in self.workers}
        return found | {f"{name}/": statistics.median(row["float32"] / row[name] for row in rows) for name in LEVELS}


def line(name: str, flops: float, times: dict[str, float]) -> str:
    """In GFLOP/s, or milliseconds if the operations are not counted."""
    cells = [name]
    for runtime in ("float32", *LEVELS):
        value = flops / times[runtime] / 1e9 if flops else times[runtime] * 1e3
        ratio = f" ({times[runtime + '/']:.2f} ×)" if runtime in LEVELS else ""
        cells.append(f"{value:.3g}{ratio}")
    if "tiles" in times:
        cells.append(f"{2 * 16 * 16 * 32 / times['tiles'] / 1e9:.0f}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="*", help="workloads whose names contain one of these; nothing is written")
    arguments = parser.parse_args()
    cpu, runtimes = cpu_facts(), Runtimes()
    title = f"{cpu.get('model name')} (family {cpu.get('cpu family')}, model {cpu.get('model')})"
    lines = [
        f"# bfloat16 by each level of kernels: {title}",
        "",
        f"One thread; medians of {arguments.rounds} rounds in turn, in CPU time (`benchmarks/bfloat16_levels.py`). Products and",
        "convolutions in GFLOP/s, steps in ms; in brackets, how many times as fast as float32. Level v4 casts to float32.",
        "",
        "| | float32 | " + " | ".join(f"bfloat16, {level}" for level in LEVELS) + " | tdpbf16ps alone |",
        "|---" * (len(LEVELS) + 3) + "|",
    ]
    print("\n".join(lines), flush=True)
    for name, wide, narrow, flops in workloads():
        if arguments.only and not any(part in name for part in arguments.only):
            continue
        lines.append(line(name, flops, runtimes.times(wide, narrow, arguments.rounds)))
        print(lines[-1], flush=True)
    if not arguments.only:
        (HERE / "results" / f"bfloat16-{slug(cpu)}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
