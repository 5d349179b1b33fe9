# The optimizers' C library: its bandwidth against the memory's, the cost of a call, threads, rows, states.
"""Prints one table; with everything measured in full size it is written to results/optimizer_library.md."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from environments import PACKAGES, NotInstalled, command_of, compiled
from measuring import HERE, Row, Settings, in_turn, start
from run import cpu_facts, markdown
from worker import Worker, WorkerError

ELEMENTS = 32_000_000
TABLE_ROWS, WIDTH = 1_000_000, 16
# Bytes that an update of one float32 parameter must move: each array is read once and written once if it changes.
BYTES = {
    "sgd": 12,
    "momentum": 20,
    "adagrad": 20,
    "adam": 28,
    "adamw": 28,
    "adamax": 28,
    "adadelta": 28,
    "rmsprop": 28,
    "ftrl": 28,
    "averaged_sgd": 20,
    "averaged_adam": 36,
}
FUSED_IN_TORCH = ("sgd", "momentum", "adam", "adamw", "adagrad")


class Setting(NamedTuple):
    settings: Settings
    elements: int
    command: list[str]  # starts optimizer_library.c

    def library(self, workload: str, cores: str = "") -> Worker:
        settings = self.settings._replace(core=cores) if cores else self.settings
        return start("optimizer_library", self.command, workload, settings)


def timed(workers: dict[str, Worker], steps: dict[str, int], rounds: int) -> dict[str, float]:
    """Seconds per step of each worker, by name; closes the workers."""

    def one(name: str) -> Callable[[], float]:
        return lambda: workers[name].seconds(steps.get(name, 1))

    try:
        return in_turn({name: one(name) for name in workers}, rounds)
    finally:
        for worker in workers.values():
            worker.close()


def torch_beside(workers: dict[str, Worker], name: str, elements: int, settings: Settings) -> str:
    """Adds PyTorch's optimizer to the workers if it agrees with ours about the parameter; else returns the reason."""
    try:
        worker = start("torch optimizers", command_of("torch.optim fused"), f"{name}:{elements}", settings)
        ours, theirs = workers["ours"].result(5), worker.result(5)
        if not abs(ours - theirs) <= 1e-5:
            worker.close()
            return f"disagrees: {theirs:.8g}, ours {ours:.8g}"
        workers["torch"] = worker
        return ""
    except (NotInstalled, WorkerError) as error:
        return str(error)


def update(now: Setting) -> Iterator[Row]:
    """Large dense updates against STREAM and PyTorch, all on one core."""
    for name, moved in BYTES.items():
        workers = {"ours": now.library(f"update:{name}:{now.elements}")}
        why_not = torch_beside(workers, name, now.elements, now.settings) if name in FUSED_IN_TORCH else ""
        kernels = {}
        for kernel in ("triad", "update"):
            workers[kernel] = start("stream", compiled(HERE / "stream.c"), kernel, now.settings)
            kernels[kernel] = workers[kernel].result(1)
        times = timed(workers, {}, now.settings.rounds)
        kernel = max(kernels, key=lambda kernel: kernels[kernel] / times[kernel])
        speed = kernels[kernel] / times[kernel]
        achieved = moved * now.elements / 1e9 / times["ours"]
        title = f"{name}, {now.elements:,} elements"
        ratio = achieved / speed
        yield Row(title, "GB/s", achieved, f"STREAM {kernel}", speed, ratio, "≥ 0.9 ×", ratio >= 0.9)
        if "torch" in times:
            theirs = 1e3 * times["torch"]
            ratio = times["torch"] / times["ours"]
            yield Row(title, "ms", 1e3 * times["ours"], "torch.optim fused", theirs, ratio, "≥ 1 ×", ratio >= 1)
        elif why_not:
            yield Row(title, "ms", 1e3 * times["ours"], "torch.optim fused", note=f"not measured: {why_not}")


def call(now: Setting) -> Iterator[Row]:
    """An update of 16 elements: most of its time is the call."""
    for name in ("sgd", "momentum", "adam", "adagrad", "averaged_adam"):
        workers = {"ours": now.library(f"update:{name}:16")}
        why_not = torch_beside(workers, name, 16, now.settings) if name in FUSED_IN_TORCH else ""
        times = timed(workers, {"ours": 200_000, "torch": 500}, now.settings.rounds)
        title = f"a call of {name}, 16 elements"
        ours = 1e9 * times["ours"]
        if "torch" in times:
            theirs = 1e9 * times["torch"]
            yield Row(title, "ns", ours, "torch.optim fused", theirs, theirs / ours)
        else:
            yield Row(title, "ns", ours, note=f"torch not measured: {why_not}" if why_not else "")


def threads(now: Setting) -> Iterator[Row]:
    """One object per thread: throughput of two threads relative to one, against the same ratio of a loop on this machine."""
    cores = sorted(os.sched_getaffinity(0))[-2:]
    if len(cores) < 2:
        yield Row("adam: 2 threads", "of 1", None, note="not measured: there is one core")
        return
    both = ",".join(map(str, cores))
    for elements, steps in ((16, 200_000), (16384, 2_000)):
        workers = {
            f"{what} {count}": now.library(f"{what}:adam:{elements}:{count}", both)
            for what in ("threads", "control")
            for count in (1, 2)
        }
        times = timed(workers, dict.fromkeys(workers, steps), now.settings.rounds)
        ours, most = (2 * times[f"{what} 1"] / times[f"{what} 2"] for what in ("threads", "control"))
        yield Row(
            f"adam, {elements:,} elements: 2 threads",
            "of 1",
            ours,
            "counting in a register",
            most,
            ours / most,
            "≥ 0.95 ×",
            ours >= 0.95 * most,
        )


def rows(now: Setting) -> Iterator[Row]:
    """The time of lazy updates depends on the rows that they name, not on the table."""
    table = min(TABLE_ROWS, now.elements)
    for name in ("sgd", "adagrad", "adam"):
        named = [count for count in (100, 1_000, 10_000, 100_000) if count <= table]
        workers = {str(count): now.library(f"rows:{name}:{table * WIDTH}:{count}") for count in named}
        workers["smaller"] = now.library(f"rows:{name}:{table // 100 * WIDTH}:{named[0]}")
        steps = {"smaller": 1_000, **{str(count): 100_000 // count for count in named}}
        times = timed(workers, steps, now.settings.rounds)
        for count in named:
            yield Row(f"{name}, {count:,} rows of {table:,}", "ns/row", 1e9 * times[str(count)] / count)
        ratio = times[str(named[0])] / times["smaller"]
        yield Row(
            f"{name}, {named[0]:,} rows of {table:,}",
            "µs",
            1e6 * times[str(named[0])],
            f"of {table // 100:,}",
            1e6 * times["smaller"],
            ratio,
        )


def state(now: Setting) -> Iterator[Row]:
    """The whole state of Adam to bytes and back, against a loop that copies."""
    workers = {what: now.library(f"{what}:adam:{now.elements}") for what in ("save", "load")}
    workers["copy"] = start("stream", compiled(HERE / "stream.c"), "copy", now.settings)
    gigabytes, copied = workers["save"].result(1), workers["copy"].result(1) / 3
    times = timed(workers, {}, now.settings.rounds)
    speed = copied / times["copy"]
    for what in ("save", "load"):
        achieved = gigabytes / times[what]
        yield Row(f"{what} a state of {1e3 * gigabytes:.3g} MB", "GB/s", achieved, "a copy", speed, achieved / speed)


FIGURES: dict[str, Callable[[Setting], Iterator[Row]]] = {
    "update": update,
    "call": call,
    "threads": threads,
    "rows": rows,
    "state": state,
}


def library_command(prefix: Path) -> list[str]:
    """optimizer_library.c, linked with the library of a prefix."""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    command = ["pkg-config", "--cflags", "--libs", "paddle_mini_optimizer"]
    words = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout.split()
    folders = [f"-Wl,-rpath,{word[2:]}" for word in words if word.startswith("-L")]
    return compiled(HERE / "optimizer_library.c", f"-I{HERE.parent / 'examples/c'}", *words, *folders, "-pthread")


def package_prefix() -> Path:
    command = [str(Path(sys.executable).parent / "paddle-mini"), "prefix"]
    return Path(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip())


def report(now: Setting, table: str) -> str:
    facts = cpu_facts()
    machine = f"{facts.get('model name')} (family {facts.get('cpu family')}, model {facts.get('model')})"
    return (
        f"# The optimizers' C library: {machine}\n\n"
        f"One core and one thread, but where threads are named; medians of {now.settings.rounds} rounds in turn. "
        f"Beside: {', '.join(PACKAGES['torch'])}. What the figures are: [benchmarks](../../docs/benchmarks.md).\n\n"
        f"{table}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(FIGURES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--elements", type=int, default=ELEMENTS, help="of large updates; STREAM's stay as they are")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--prefix", type=Path, help="of the library; default: the one in the Python package")
    arguments = parser.parse_args()
    now = Setting(
        Settings(arguments.rounds, arguments.core), arguments.elements, library_command(arguments.prefix or package_prefix())
    )
    found: list[Row] = []
    for name in arguments.only or FIGURES:
        print(f"== measuring {name}", file=sys.stderr)
        found += FIGURES[name](now)
    table = markdown(found)
    print(table)
    if not arguments.only and arguments.elements == ELEMENTS:
        (HERE / "results/optimizer_library.md").write_text(report(now, table))


if __name__ == "__main__":
    main()
