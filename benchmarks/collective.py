# Collective mode beside Gloo: the sum of the gradients of two trainers, exchanged and nothing else.
"""Prints one table and writes it to results/collective-CPU.md.

python benchmarks/collective.py --rounds 5
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import paddle_mini as pm
from environments import python_of
from measuring import HERE, Row, Settings, start
from run import cpu_facts, markdown, slug
from worker import ONE_THREAD

SIZES = (1, 10, 100)
"""Megabytes of a gradient."""
BAR, BAR_SIZE = 0.9, 100
STEPS = {1: 300, 10: 60, 100: 12}
WARM = 3


def exchanged(megabytes: int, steps: int) -> list[float]:
    """A job's function: the time at which each exchange ended, preceded by the time at which the first one began."""
    weight = pm.layers.create_parameter([megabytes * 1_000_000 // 4], default_initializer=pm.initializer.Constant(0.0))
    pm.optimizer.SGD(0.1).minimize(pm.layers.mean(weight))
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    trainer = pm.cluster.join(exe=exe)
    memory = trainer._gradients.memory
    mean = next(iter(memory.mean.buffer.views.values()))
    ends = []
    for step in range(WARM + steps + 1):
        with memory.gradient.changing() as gradients:
            next(iter(gradients.views.values()))[-1] = trainer.number + 1
        trainer._exchange.mean(has_gradient=True)
        ends.append(time.monotonic())
        assert mean[-1] == 1.5, f"the mean of 1 and 2 in step {step} is {mean[-1]}"
    return ends[WARM:]


def ours(engine: str, megabytes: int) -> float:
    """Bytes of a gradient per second of a step that both trainers make."""
    ends = pm.cluster.run(exchanged, 2, mode="collective", engine=engine, args=(megabytes, STEPS[megabytes])).returned
    seconds = (max(one[-1] for one in ends) - max(one[0] for one in ends)) / STEPS[megabytes]
    return megabytes * 1e6 / seconds


def measured(rounds: int, cores: str) -> dict[tuple[str, int], list[float]]:
    """Bytes per second, by runtime and megabytes; rounds alternate between the runtimes."""
    gloo = {
        size: start("gloo", [str(python_of("torch")), str(HERE / "peers/torch_gloo.py")], str(size), Settings(rounds, cores))
        for size in SIZES
    }
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for size, worker in gloo.items():
            worker.seconds(WARM)
            found.setdefault(("gloo", size), []).append(size * 1e6 / worker.seconds(STEPS[size]))
            for engine in ("ray", "threads"):
                found.setdefault((engine, size), []).append(ours(engine, size))
    for worker in gloo.values():
        worker.close()
    return found


def rows(found: dict[tuple[str, int], list[float]]) -> Iterator[Row]:
    speeds = {key: statistics.median(values) / 1e6 for key, values in found.items()}
    for engine in ("ray", "threads"):
        for size in SIZES:
            here, theirs = speeds[engine, size], speeds["gloo", size]
            bar = f"≥ {BAR} ×" if (engine, size) == ("ray", BAR_SIZE) else ""
            yield Row(
                f"{size} MB, {engine}", "MB/s", here, "gloo", theirs, here / theirs, bar, here / theirs >= BAR if bar else None
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", default="0-1", help="that all processes share")
    parser.add_argument("--out", type=Path, default=HERE / "results" / f"collective-{slug(cpu_facts())}.md")
    arguments = parser.parse_args()
    os.environ.update(ONE_THREAD)
    table = markdown(list(rows(measured(arguments.rounds, arguments.cores))))
    arguments.out.write_text(
        f"# Collective mode: {cpu_facts().get('model name')}, {os.cpu_count()} cores\n\n"
        f"The mean of a float32 gradient of two trainers on one machine, beside the sum by torch.distributed's all_reduce with "
        f"Gloo. Bytes of a gradient per second; medians of {arguments.rounds} rounds in turn.\n\n{table}\n"
    )
    print(table)


if __name__ == "__main__":
    main()
