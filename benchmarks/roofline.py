# How close every operator of the workloads comes to the limit of the machine.
#
#   python benchmarks/roofline.py [--rounds 9] [--threads 1] [--only gpt resnet18-1 lstm-16 ...] [--write]
#
# The limit of an operator is the longer of two times: its floating-point operations at the speed of multiply-adds in
# registers (fma.c), and its bytes at the speed of a copy of as many bytes, which is higher where they fit into a cache. Both
# are measured in turn with the workloads. An operator whose inputs another one has left in a cache can exceed its limit.
from __future__ import annotations

import argparse
import functools
import itertools
import os
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

import ours
import paddle_mini as pm
from environments import FOLDER, compiled
from inference import saved
from inference_models import NETWORKS
from measuring import HERE, Settings, start
from run import cpu_facts, slug

Run = Callable[[int], float]

TRAINING = ("tiny_mlp", "mlp", "lenet", "resnet", "lstm", "gpt", "wide_deep")
COPIES = [1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 27]  # bytes read and written
LEAST_SHARE = 0.01  # share of the step from which an operator has a row


class Peak(NamedTuple):
    flops: float
    """Floating-point operations for each second."""
    copies: dict[int, float]
    """Bytes for each second, by the bytes of the copy."""

    def seconds(self, flops: float, moved: float) -> float:
        """The limit of an operator."""
        sizes = list(self.copies)
        speed = np.interp(np.log(max(moved, 1.0)), np.log(sizes), [self.copies[size] for size in sizes])
        return max(flops / self.flops, moved / float(speed))


class Work(NamedTuple):
    """The operators of one type in a step. seconds: of each round; limit: the sum of the operators' limits."""

    seconds: list[float]
    flops: float
    bytes: float
    limit: float


def copies() -> dict[int, Callable[[], float]]:
    """Functions that return the speed of a copy of so many bytes, in this process."""
    return {size: copy_of(size) for size in COPIES}


def copy_of(size: int) -> Callable[[], float]:
    program, exe, scope = pm.Program(), pm.Executor(), pm.Scope()
    block = program.global_block()
    count = size // 8
    for name in ("x", "out"):
        block.create_var(name, dtype="float32", shape=[count], persistable=True)
        scope.set(name, np.ones(count, "float32"))
    block.append_op("scale", {"X": "x"}, {"Out": "out"}, {"scale": 2.0})

    def speed() -> float:
        repeated = max(2, (1 << 22) // size)
        with pm.profile(most_events=0) as profile:
            for _ in range(repeated):
                exe.run(program, scope=scope)
        return size * repeated / 1e-6 / sum(site.microseconds for site in profile.sites)

    speed()
    return speed


def workloads(only: Iterable[str]) -> dict[str, Callable[[], Run]]:
    """Steps of training, and calls of saved models for one input and for 16: NAME-BATCH."""
    every: dict[str, Callable[[], Run]] = {name: getattr(ours, name) for name in TRAINING}
    for name, batch in itertools.product(NETWORKS, (1, 16)):
        every[f"{name}-{batch}"] = functools.partial(calls_of, name, batch)
    wanted = list(only) or list(every)
    if unknown := sorted(set(wanted) - set(every)):
        sys.exit(f"roofline.py: {', '.join(unknown)} is not one of {', '.join(every)}")
    return {name: every[name] for name in wanted}


def calls_of(name: str, batch: int) -> Run:
    prefix = saved(name, batch)
    model, x = pm.Predictor(str(prefix)), np.load(f"{prefix}.npy")

    def run(steps: int) -> float:
        for _ in range(steps):
            (value,) = model(x)
        return float(value.sum())

    return run


def measured(run: Run, rounds: int, between: Callable[[], Peak]) -> tuple[dict[str, Work], list[float]]:
    """The work of a step by type of operator, with the limits of the fastest machine that was seen, and the seconds of
    operators in the step of each round. between(): measures the machine, once before each round."""
    run(3)
    peak = between()
    with pm.profile(most_events=0) as profile:
        run(1)
    steps = max(1, round(2e4 / sum(site.microseconds for site in profile.sites)))
    rounds_of: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        peak = between()
        with pm.profile(most_events=0) as profile:
            run(steps)
        seconds: dict[str, float] = defaultdict(float)
        for site in profile.sites:
            seconds[site.operator] += site.microseconds / 1e6 / steps
        for operator, value in seconds.items():
            rounds_of[operator].append(value)
    found: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for site in profile.sites:
        flops, moved = site.flops or 0, site.bytes or 0
        for i, amount in enumerate((flops, moved, peak.seconds(flops, moved))):
            found[site.operator][i] += amount * site.calls / steps
    works = {name: Work(rounds_of[name], *sums) for name, sums in found.items()}
    return works, [sum(values) for values in zip(*(work.seconds for work in works.values()))]


def table(name: str, works: dict[str, Work], totals: Sequence[float]) -> list[str]:
    """The rows of one workload, the longest first."""
    whole = statistics.median(totals)
    rows = [(operator, statistics.median(work.seconds), work) for operator, work in works.items()]
    rows.sort(key=lambda one: -one[1])
    shown = [one for one in rows if one[1] >= LEAST_SHARE * whole]
    sums = Work([], *(sum(getattr(work, field) for _, _, work in rows) for field in ("flops", "bytes", "limit")))
    lines = [line(f"**{name}**", whole, whole, sums)]
    lines += [line(operator, seconds, whole, work) for operator, seconds, work in shown]
    return lines


def line(name: str, seconds: float, whole: float, work: Work) -> str:
    share = f"{100 * work.limit / seconds:.0f} %"
    cells = [name, f"{1e3 * seconds:.4g}", f"{100 * seconds / whole:.0f} %", f"{work.flops / 1e9:.3g}"]
    return f"| {' | '.join([*cells, f'{work.bytes / 1e6:.3g}', f'{1e3 * work.limit:.4g}', share])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="How close the operators of the workloads come to the machine's limit.")
    parser.add_argument("--only", nargs="+", default=[], help="workloads; a saved model is NAME-1")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the table to results/")
    arguments = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))[-arguments.threads :]
    os.sched_setaffinity(0, cpus)
    pm.set_num_threads(arguments.threads)
    settings = Settings(arguments.rounds, ",".join(map(str, cpus)), arguments.threads)
    FOLDER.mkdir(parents=True, exist_ok=True)
    fma = start("fma", compiled(HERE / "fma.c"), "fma", settings)
    speeds, best = copies(), Peak(0.0, dict.fromkeys(COPIES, 0.0))

    def machine() -> Peak:
        """The fastest that was seen until now."""
        nonlocal best
        flops = fma.result(1) / fma.seconds(1)
        best = Peak(max(best.flops, flops), {size: max(best.copies[size], speed()) for size, speed in speeds.items()})
        return best

    lines = ["| operator | ms | of the step | GFLOP | MB | limit, ms | limit / time |", "|---|---|---|---|---|---|---|"]
    for name, make in workloads(arguments.only).items():
        lines += table(name, *measured(make(), arguments.rounds, machine))
        print(lines[-1], file=sys.stderr)
    fma.close()
    caches = ", ".join(f"{best.copies[size] / 1e9:.0f} ({size >> 10:,} KiB)" for size in COPIES)
    cpu = cpu_facts()
    heading = f"# Limits: {cpu.get('model name')} (family {cpu.get('cpu family')}, model {cpu.get('model')})"
    how = (
        f"Threads: {arguments.threads}; medians of {arguments.rounds} rounds. Multiply-adds in registers: "
        f"{best.flops / 1e9:.0f} GFLOP/s; copies, GB/s by size: {caches}. Operators under {100 * LEAST_SHARE:.0f} % of a step "
        "have no row."
    )
    text = "\n\n".join([heading, how, "\n".join(lines)]) + "\n"
    print(text)
    if arguments.write:
        (HERE / "results" / f"roofline-{slug(cpu)}{settings.suffix()}.md").write_text(text)


if __name__ == "__main__":
    main()
