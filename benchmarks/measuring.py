# How a figure is measured: runtimes that alternate on the same CPUs, and the resulting rows of the table.
from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from environments import FOLDER
from worker import Worker, WorkerError

HERE = Path(__file__).parent


class Row(NamedTuple):
    """One line of the table. `ratio` is above 1 if ours is better, unless the target begins with ≤."""

    figure: str
    unit: str
    ours: float | None
    peer: str = ""
    theirs: float | None = None
    ratio: float | None = None
    bar: str = ""
    met: bool | None = None
    note: str = ""


class Settings(NamedTuple):
    rounds: int
    cpus: int | str  # a CPU's number, or several in taskset's notation
    threads: int = 1  # for each runtime

    def suffix(self) -> str:
        """The end of the name of a file of results: none for one thread."""
        return "" if self.threads == 1 else f"-{self.threads}-threads"


def in_turn(measures: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each, measured in alternating rounds, so that a slow minute affects all alike."""
    times: dict[str, list[float]] = {name: [] for name in measures}
    for measure in measures.values():
        measure()
    for _ in range(rounds):
        for name, measure in measures.items():
            times[name].append(measure())
    return {name: statistics.median(values) for name, values in times.items()}


def start_ours(workload: str, settings: Settings) -> Worker:
    return start("ours", [sys.executable, str(HERE / "ours.py")], workload, settings)


def start(name: str, command: list[str], workload: str, settings: Settings) -> Worker:
    FOLDER.mkdir(parents=True, exist_ok=True)
    return prepared(Worker(command, settings.cpus, FOLDER / f"{name.replace(' ', '_')}.log", settings.threads), workload)


def prepared(worker: Worker, workload: str) -> Worker:
    """The worker, which is closed if it can't do this."""
    try:
        worker.prepare(workload)
    except WorkerError:
        worker.close()
        raise
    return worker


def cpu_seconds(root: int | None = None) -> float:
    """CPU time of a process, by default this one, and of its descendants that are still alive."""
    parents, worked = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            fields = path.read_text().rsplit(")", 1)[1].split()
            parents[int(path.parent.name)], worked[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:13]))
    top = os.getpid() if root is None else root

    def is_one(process: int) -> bool:
        return process == top or (process in parents and is_one(parents[process]))

    return sum(count for process, count in worked.items() if is_one(process)) / os.sysconf("SC_CLK_TCK")
