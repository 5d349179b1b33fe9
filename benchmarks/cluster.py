# Jobs of parameter servers: bytes per second against bare Ray, the time until a job starts, and the parts of a step.
"""Prints one table and writes it to results/cluster.md.

python benchmarks/cluster.py --rounds 5
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cluster_job
from cluster_bare import SHAPES
from cluster_job import PARTS, Timing, rate, step_bytes
from measuring import HERE, Row, Settings, start
from run import cpu_facts, markdown
from worker import ONE_THREAD

PARTS_OF_JOB = {"trainers": 2, "servers": 2}
BAR, START_BARS = 0.6, {"ray": 15.0, "threads": 0.2}
ENGINES = tuple(START_BARS)


def job(engine: str, steps: int, computes: bool) -> list[Timing]:
    import paddle_mini as pm

    return pm.cluster.run(cluster_job.train, **PARTS_OF_JOB, engine=engine, args=(steps, computes)).returned


def seconds_to_begin(engine: str) -> float:
    """Seconds from run() until the last trainer can start."""
    import paddle_mini as pm

    begin = time.monotonic()
    return max(pm.cluster.run(cluster_job.begin, **PARTS_OF_JOB, engine=engine).returned) - begin


def in_rounds(steps: int, barrier: int, core: str) -> dict[str, list[object]]:
    """The result of each measurement; rounds alternate between the measurements."""
    found: dict[str, list[object]] = {}

    def note(name: str, measure: Callable[[], object]) -> None:
        print(f"== {name}", file=sys.stderr)
        found.setdefault(name, []).append(measure())

    def bare(workload: str) -> float:
        command = [sys.executable, str(HERE / "cluster_bare.py")]
        worker = start("cluster bare", command, workload, Settings(barrier, core))
        try:
            return worker.result(steps)
        finally:
            worker.close()

    for _ in range(barrier):
        for engine in ENGINES:
            note(f"{engine} begins", lambda: seconds_to_begin(engine))
            note(f"{engine} training", lambda: job(engine, steps, True))
            note(f"{engine} exchange", lambda: job(engine, steps, False))
            SHAPES.parent.mkdir(parents=True, exist_ok=True)
            SHAPES.write_text(json.dumps(found[f"{engine} exchange"][-1][0].messages))
        note("bare exchange", lambda: bare("exchange"))
        note("bare training", lambda: bare("training"))
    return found


def rows(found: dict[str, list[object]]) -> Iterator[Row]:
    speeds = {
        name: statistics.median(one if isinstance(one, float) else rate(one) for one in values) / 1e6
        for name, values in found.items()
        if not name.endswith("begins")
    }

    def beside(title: str, ours: str, peer: str, bar: bool) -> Row:
        ratio = speeds[ours] / speeds[peer]
        return Row(
            title,
            "MB/s",
            speeds[ours],
            f"Ray, {peer}",
            speeds[peer],
            ratio,
            f"≥ {BAR:g} ×" if bar else "",
            ratio >= BAR if bar else None,
        )

    for engine in ENGINES:
        bar = engine == "ray"
        yield beside(f"exchange alone, {engine}", f"{engine} exchange", "bare exchange", bar)
        yield beside(f"training, {engine}, beside the same model", f"{engine} training", "bare training", bar)
        yield beside(f"training, {engine}, beside no model", f"{engine} training", "bare exchange", bar)
        seconds = statistics.median(found[f"{engine} begins"])
        limit = START_BARS[engine]
        yield Row(f"a job begins, {engine}", "s", seconds, bar=f"≤ {limit:g} s", met=seconds <= limit)
        for part in PARTS:
            timings = [one for timings in found[f"{engine} training"] for one in timings]
            taken = [seconds for one in timings for seconds in one.parts[part]]
            yield Row(f"{part}, {engine}", "ms/step", 1e3 * statistics.median(taken))


def report(table: str, moved: int, steps: int, barrier: int) -> str:
    cpu = cpu_facts().get("model name")
    return (
        f"# Trainers and parameter servers: {cpu}, {os.cpu_count()} cores\n\n"
        f"Wide & deep with a table of 1,000,000 x 16, two trainers and two servers, async mode; a trainer's step "
        f"moves {moved / 1e6:.2f} MB in 4 messages. Medians of {barrier} rounds of {steps} steps in turn. What the "
        f"figures are: [benchmarks](../../docs/benchmarks.md).\n\n{table}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100, help="of each trainer in a round")
    parser.add_argument("--cores", default="0-1", help="that all processes share")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "cluster.md")
    arguments = parser.parse_args()
    os.environ.update(ONE_THREAD)
    found = in_rounds(arguments.steps, arguments.barrier, arguments.cores)
    table = markdown(list(rows(found)))
    moved = step_bytes(found["threads exchange"][0][0].messages)
    arguments.out.write_text(report(table, moved, arguments.steps, arguments.barrier))
    print(table)


if __name__ == "__main__":
    main()
