# Products of float32 matrices beside the machine's limits: multiply-adds in registers and reads of memory, in the same rounds.
"""The right operand is a parameter, which a program for inference keeps packed, or the program writes it, so that each product
packs it. The limit is the longer of two times: that of the multiply-adds (fma.c), and, where A and B have more than 32 MB, which
the caches of a core do not hold, that of reading them (`read` of stream.c). Times are the least, speeds the highest ones.

    python benchmarks/products.py [--rounds 40] [--write]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

import numpy as np

import paddle_mini as pm
from environments import compiled
from measuring import HERE, Settings, start
from run import cpu_facts, slug
from worker import Worker

# m, n, k of [m, k] [k, n]: squares, the layers of a BERT of the base model's width for one text and for 16, few rows or columns.
SHAPES = [(1024, 1024, 1024), (512, 512, 512)]
SHAPES += [(rows, n, k) for rows in (128, 2048) for n, k in ((768, 768), (2304, 768), (3072, 768), (768, 3072))]
SHAPES += [(rows, 4096, 4096) for rows in (1, 2, 4, 8, 16, 32)]
SHAPES += [(16, 512, 784), (16, 512, 512), (16, 1024, 256)]
SHAPES += [(4096, columns, 4096) for columns in (1, 8, 16, 32)]
IN_CACHE = 32 << 20


def product(m: int, n: int, k: int, kept: bool) -> Callable[[int], float]:
    """Seconds of so many products of values of the scope; B is `kept` packed, or else written before each."""
    program, exe, scope = pm.Program(), pm.Executor(), pm.Scope()
    block, draw = program.global_block(), np.random.default_rng(1)
    for name, shape in (("x", (m, k)), ("y", (k, n))):
        block.create_var(name, dtype="float32", shape=list(shape), persistable=True)
        scope.set(name, draw.standard_normal(shape, "float32"))
    block.create_var("out", dtype="float32")
    if not kept:
        block.append_op("assign", {"X": "y"}, {"Out": "y"})
    block.append_op("mul", {"X": "x", "Y": "y"}, {"Out": "out"})

    def run(steps: int) -> float:
        with pm.profile(most_events=0) as profile:
            for _ in range(steps):
                exe.run(program, fetch_list=[], scope=scope)
        return sum(site.microseconds for site in profile.sites if site.operator == "mul") / 1e6

    run(2)
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description="Products beside the machine's limits.")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--write", action="store_true", help="write the table to results/")
    arguments = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, [core])
    pm.set_num_threads(1)
    settings = Settings(arguments.rounds, core)
    fma = start("fma", compiled(HERE / "fma.c"), "fma", settings)
    stream = start("stream", compiled(HERE / "stream.c"), "read", settings)
    cpu = cpu_facts()
    cells = ["m, n, k", "FMA GFLOP/s", "read GB/s", "limit, ms", "B kept, ms", "GFLOP/s", "limit / time"]
    cells += ["B packed each time, ms", "limit / time"]
    lines = [
        f"# Products: {cpu.get('model name')} (family {cpu.get('cpu family')}, model {cpu.get('model')})",
        "",
        f"One thread; least times and highest speeds of {arguments.rounds} rounds in turn (`benchmarks/products.py`).",
        "",
        f"| {' | '.join(cells)} |",
        "|---" * len(cells) + "|",
    ]
    print("\n".join(lines))
    for m, n, k in SHAPES:
        lines.append(row(m, n, k, arguments.rounds, fma, stream))
        print(lines[-1], flush=True)
    if arguments.write:
        (HERE / "results" / f"products-{slug(cpu)}.md").write_text("\n".join(lines) + "\n")


def row(m: int, n: int, k: int, rounds: int, fma: Worker, stream: Worker) -> str:
    runs = [product(m, n, k, kept) for kept in (True, False)]
    steps = max(1, int(0.01 / runs[0](1)))
    flops, moved = 2.0 * m * n * k, 4.0 * (m * k + k * n)
    least, speed, bandwidth = [float("inf")] * 2, 0.0, 0.0
    for i in range(rounds):
        speed = max(speed, fma.result(1) / fma.seconds(1))
        if moved > IN_CACHE and i % 8 == 0:
            bandwidth = max(bandwidth, stream.result(1) / stream.seconds(1))
        least = [min(seconds, run(steps) / steps) for seconds, run in zip(least, runs)]
    limit = max(flops / speed, moved / 1e9 / bandwidth if bandwidth else 0.0)
    cells = [f"{m}, {n}, {k}", f"{speed / 1e9:.0f}", f"{bandwidth:.1f}" if bandwidth else "", f"{1e3 * limit:.3g}"]
    cells += [f"{1e3 * least[0]:.3g}", f"{flops / least[0] / 1e9:.0f}", f"{100 * limit / least[0]:.0f} %"]
    cells += [f"{1e3 * least[1]:.3g}", f"{100 * limit / least[1]:.0f} %"]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
