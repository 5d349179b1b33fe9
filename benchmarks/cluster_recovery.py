# How long the trainers of a job on Ray make no step after one of its processes was killed.
"""Prints one table and writes it to results/cluster_recovery.md.

python benchmarks/cluster_recovery.py --rounds 3
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

import paddle_mini as pm
from measuring import HERE, Row
from paddle_mini.cluster.ray_engine import RayEngine
from run import cpu_facts, markdown
from worker import ONE_THREAD

BAR = 10.0
PARTS = {
    "async": ["server 0", "coordinator", "trainer 1"],
    "sync": ["server 0", "trainer 1"],
    "collective": ["coordinator", "trainer 1"],
}
BEFORE, AFTER = 20, 20
"""Steps that each trainer makes before a process is killed, and after the job has recovered."""


def train(folder: str) -> None:
    """A job's function: trains until the file `enough` exists. Each trainer's file has the times at which its steps ended."""
    x = pm.layers.data("x", [-1, 64])
    loss = pm.layers.mean(pm.layers.square(pm.layers.fc(pm.layers.fc(x, 400, act="tanh"), 3)))
    pm.optimizer.Adam(0.01).minimize(loss)
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    trainer = pm.cluster.join(exe=exe)
    feed = {"x": np.random.default_rng(trainer.number).standard_normal((32, 64)).astype("float32")}
    with open(os.path.join(folder, f"trainer {trainer.number}"), "a", buffering=1) as times:
        while not os.path.exists(os.path.join(folder, "enough")):
            trainer.run(feed, [loss])
            times.write(f"{time.monotonic()!r}\n")
            time.sleep(0.02)


def ends(folder: str, number: int) -> list[float]:
    """The last line may be half written when its trainer was killed."""
    path = Path(folder, f"trainer {number}")
    return [float(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def recovery(mode: str, part: str) -> float:
    """Seconds from the death of a process until each trainer has made a step that needed its successor: the end of the longest
    pause of each trainer after it."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as directory:
        engine, killed = RayEngine(), []

        def kill() -> None:
            while min(len(ends(folder, number)) for number in (0, 1)) < BEFORE:
                time.sleep(0.05)
            engine.kill(part)
            killed.append(time.monotonic())
            dead = killed[0] + BAR
            while time.monotonic() < dead + 20 and not all(later(number)[AFTER:] for number in (0, 1)):
                time.sleep(0.05)
            time.sleep(1.0)  # a pause that has not begun yet
            Path(folder, "enough").touch()

        def later(number: int) -> list[float]:
            return [end for end in ends(folder, number) if end > killed[0]]

        killer = threading.Thread(target=kill)
        killer.start()
        servers = None if mode == "collective" else 2
        pm.cluster.run(train, 2, servers, mode, engine, directory, (folder,), checkpoint_seconds=1.0)
        killer.join()
        return max(pause_end([killed[0], *later(number)]) for number in (0, 1)) - killed[0]


def pause_end(times: list[float]) -> float:
    """The end of the longest of the pauses between these times."""
    return max(pairwise(times), key=lambda pair: pair[1] - pair[0])[1]


def rows(rounds: int) -> Iterator[Row]:
    for mode, parts in PARTS.items():
        for part in parts:
            found = [recovery(mode, part) for _ in range(rounds)]
            worst = max(found)
            yield Row(f"{part} dies, {mode}", "s", statistics.median(found), "longest", worst, None, f"≤ {BAR:g} s", worst <= BAR)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "cluster_recovery.md")
    arguments = parser.parse_args()
    os.environ.update(ONE_THREAD)
    table = markdown(list(rows(arguments.rounds)))
    arguments.out.write_text(
        f"# Recovery of jobs on Ray: {cpu_facts().get('model name')}, {os.cpu_count()} cores\n\n"
        f"Two trainers, and in modes async and sync two servers, on one machine. Seconds from kill -9 of a process until the end "
        f"of the longest pause of a trainer; medians and maxima of {arguments.rounds} jobs each.\n\n{table}\n"
    )
    print(table)


if __name__ == "__main__":
    main()
