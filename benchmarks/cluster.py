# Jobs of parameter servers: bytes per second against bare transports, the time until a job starts, the parts of a step.
"""Prints one table and writes it to results/cluster-CPU.md.

python benchmarks/cluster.py --rounds 5
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import cluster_job
from cluster_bare import SHAPES, TRANSPORTS
from cluster_job import PARTS, Timing, rate, step_bytes, working
from measuring import HERE, Row, Settings, cpu_seconds, start
from run import cpu_facts, markdown, slug
from worker import ONE_THREAD

PARTS_OF_JOB = {"trainers": 2, "servers": 2}
START_BARS = {"ray": 15.0, "threads": 0.2}
ENGINES = tuple(START_BARS)
BARS = {"ray": 2.0, "local": 0.8}
"""Bars for the exchange alone, against each transport."""
LEFT = 0.8
"""The part of the steps that the exchange alone and the computation alone leave."""


class Result(NamedTuple):
    """speed: bytes per second of all trainers; work: CPU seconds of a trainer's step in all processes."""

    speed: float
    work: float
    timings: Sequence[Timing] = ()


def job(engine: str, steps: int, computes: bool) -> Result:
    timings, used = working(lambda: cluster_job.trained(engine, **PARTS_OF_JOB, steps=steps, computes=computes))
    return Result(rate(timings), used["work"], timings)


def seconds_to_begin(engine: str) -> float:
    """Seconds from run() until the last trainer can start."""
    import paddle_mini as pm

    begin = time.monotonic()
    return max(pm.cluster.run(cluster_job.begin, **PARTS_OF_JOB, engine=engine).returned) - begin


def in_rounds(steps: int, rounds: int, core: str) -> dict[str, list[object]]:
    """The result of each measurement; rounds alternate between the measurements."""
    found: dict[str, list[object]] = {}

    def note(name: str, measure: Callable[[], object]) -> None:
        print(f"== {name}", file=sys.stderr)
        found.setdefault(name, []).append(measure())

    def bare(workload: str) -> Result:
        command = [sys.executable, str(HERE / "cluster_bare.py")]
        worker = start("cluster bare", command, workload, Settings(rounds, core))
        try:
            before = cpu_seconds(worker.process.pid)
            speed = worker.result(steps)
            return Result(speed, (cpu_seconds(worker.process.pid) - before) / (PARTS_OF_JOB["trainers"] * steps))
        finally:
            worker.close()

    for _ in range(rounds):
        for engine in ENGINES:
            note(f"{engine} begins", lambda: seconds_to_begin(engine))
            note(f"{engine} training", lambda: job(engine, steps, True))
            note(f"{engine} exchange", lambda: job(engine, steps, False))
            SHAPES.parent.mkdir(parents=True, exist_ok=True)
            SHAPES.write_text(json.dumps(found[f"{engine} exchange"][-1].timings[0].messages))
        for how in TRANSPORTS:
            note(f"bare {how}", lambda: bare(f"{how}-exchange"))
        for how in BARS:
            note(f"bare {how} training", lambda: bare(f"{how}-training"))
        note("computing", lambda: bare("computing"))
    return found


def rows(found: dict[str, list[object]]) -> Iterator[Row]:
    results = {name: values for name, values in found.items() if not name.endswith("begins")}
    speeds = {name: statistics.median(one.speed for one in values) / 1e6 for name, values in results.items()}
    works = {name: min(one.work for one in values) * 1e3 for name, values in results.items()}

    def beside(title: str, ours: str, peer: str, theirs: float, bar: float | None = None) -> Row:
        ratio = speeds[ours] / theirs
        met = None if bar is None else ratio >= bar
        return Row(title, "MB/s", speeds[ours], peer, theirs, ratio, f"≥ {bar:g} ×" if bar else "", met)

    def worked(title: str, ours: str, peer: str, bar: float | None = None) -> Row:
        ratio = works[peer] / works[ours]
        met = None if bar is None else ratio >= bar
        return Row(title, "CPU ms/step", works[ours], peer, works[peer], ratio, f"≥ {bar:g} ×" if bar else "", met)

    for engine in ENGINES:
        bars = BARS if engine == "ray" else {}
        for how in TRANSPORTS:
            yield beside(f"exchange alone, {engine}", f"{engine} exchange", f"bare {how}", speeds[f"bare {how}"], bars.get(how))
        for how in TRANSPORTS:
            yield worked(f"work of an exchange, {engine}", f"{engine} exchange", f"bare {how}", bars.get(how))
        for how in BARS:
            yield beside(f"training, {engine}", f"{engine} training", f"bare {how}, same model", speeds[f"bare {how} training"])
        left = 1 / (1 / speeds[f"{engine} exchange"] + 1 / speeds["computing"])
        yield beside(f"training, {engine}", f"{engine} training", "exchange, then model", left, LEFT if bars else None)
        seconds = statistics.median(found[f"{engine} begins"])
        limit = START_BARS[engine]
        yield Row(f"a job begins, {engine}", "s", seconds, bar=f"≤ {limit:g} s", met=seconds <= limit)
        for part in PARTS:
            timings = [one for result in found[f"{engine} training"] for one in result.timings]
            taken = [seconds for one in timings for seconds in one.parts[part]]
            yield Row(f"{part}, {engine}", "ms/step", 1e3 * statistics.median(taken))


def report(table: str, moved: int, steps: int, rounds: int) -> str:
    cpu = cpu_facts().get("model name")
    return (
        f"# Trainers and parameter servers: {cpu}, {os.cpu_count()} cores\n\n"
        f"Wide & deep with a table of 1,000,000 x 16, two trainers and two servers, async mode; a trainer's step "
        f"moves {moved / 1e6:.2f} MB in 2 messages and their replies. Medians of {rounds} rounds of {steps} steps in turn; of "
        f"CPU time, minima. What the figures are: [benchmarks](../../docs/benchmarks.md).\n\n{table}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100, help="of each trainer in a round")
    parser.add_argument("--cores", default="0-1", help="that all processes share")
    parser.add_argument("--out", type=Path, default=HERE / "results" / f"cluster-{slug(cpu_facts())}.md")
    arguments = parser.parse_args()
    os.environ.update(ONE_THREAD)
    found = in_rounds(arguments.steps, arguments.rounds, arguments.cores)
    table = markdown(list(rows(found)))
    moved = step_bytes(found["threads exchange"][0].timings[0].messages)
    arguments.out.write_text(report(table, moved, arguments.steps, arguments.rounds))
    print(table)


if __name__ == "__main__":
    main()
