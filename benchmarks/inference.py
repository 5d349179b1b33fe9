# Inference of saved models beside ONNX Runtime and PaddlePaddle's predictor: latencies of one model in all of them, in turn.
from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from environments import FOLDER, NotInstalled, python_of
from inference_models import NETWORKS
from measuring import HERE, Settings, start
from run import write_table
from worker import Worker, WorkerError

PEERS = {
    "ONNX Runtime": ("onnxruntime-inference", "onnxruntime_inference.py", ()),
    "Paddle + oneDNN": ("paddle", "paddle_predictor.py", ("--onednn",)),
    "Paddle": ("paddle", "paddle_predictor.py", ()),
}
OURS = "ours"


class Latencies(NamedTuple):
    """Seconds of one call, in the order of the rounds, of each runtime; and the reasons of those that do not run the model."""

    seconds: dict[str, list[float]]
    missing: dict[str, str]

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def best_peer(self) -> str | None:
        return min((name for name in self.seconds if name != OURS), key=self.median, default=None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 16])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1, help="of each runtime, which has as many CPUs (default 1)")
    parser.add_argument("--write", action="store_true", help="write the table to results/")
    arguments = parser.parse_args()
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[-arguments.threads :]))
    settings = Settings(arguments.rounds, cpus, arguments.threads)
    lines = [
        "| model | batch | ours ms | slowest / median | " + " | ".join(PEERS) + " | best peer / ours |",
        "|---" * (5 + len(PEERS)) + "|",
    ]
    for name in arguments.only:
        for batch in arguments.batches:
            lines.append(row(name, batch, measured(saved(name, batch), settings)))
            print(lines[-1], file=sys.stderr)
    print("\n".join(lines))
    if arguments.write:
        write_table("Inference", "inference", "", lines, settings)


def saved(name: str, batch: int) -> Path:
    """The files of a model, made in a process of their own the first time."""
    folder = FOLDER / "models"
    script = [sys.executable, str(HERE / "inference_models.py"), name, str(batch), str(folder)]
    subprocess.run(script, check=True, env={**os.environ, "PYTHONPATH": str(HERE)})
    return folder / f"{name}-{batch}"


def measured(prefix: Path, settings: Settings) -> Latencies:
    """Calls of each runtime in turn."""
    result = Latencies({}, {})
    workers = started(prefix, settings, result.missing)
    # A round takes at least about 50 ms of each runtime.
    steps = max(1, int(0.05 / workers[OURS].seconds(3)))
    result.seconds.update((name, []) for name in workers)
    for _ in range(settings.rounds):
        for name, worker in workers.items():
            result.seconds[name].append(worker.seconds(steps))
    for worker in workers.values():
        worker.close()
    return result


def started(prefix: Path, settings: Settings, missing: dict[str, str]) -> dict[str, Worker]:
    """A process of each runtime that has loaded the model; the others' reasons are written to `missing`.

    A runtime whose output's sum, of a sample, differs from ours by more than 0.1 % is not timed.
    """
    ours = start(OURS, [sys.executable, str(HERE / "ours_inference.py"), str(prefix)], "model", settings)
    expected, workers = ours.result(3), {OURS: ours}
    for name, (environment, script, options) in PEERS.items():
        try:
            command = [str(python_of(environment)), str(HERE / "peers" / script), str(prefix), *options]
            worker = start(name, command, "model", settings)
            total = worker.result(3)
        except (NotInstalled, WorkerError) as error:
            missing[name] = str(error)
            continue
        if abs(total - expected) > 1e-3 * abs(expected):
            missing[name] = f"its output's sum is {total:.6g}, ours {expected:.6g}"
            worker.close()
            continue
        workers[name] = worker
    return workers


def row(name: str, batch: int, found: Latencies) -> str:
    ours, peer = found.median(OURS), found.best_peer()
    spread = max(found.seconds[OURS]) / ours
    peers = [f"{1e3 * found.median(name):.3g}" if name in found.seconds else found.missing[name] for name in PEERS]
    ratio = f"{found.median(peer) / ours:.2f}" if peer else ""
    return f"| {name} | {batch} | {1e3 * ours:.3g} | {spread:.2f} | " + " | ".join(peers) + f" | {ratio} |"


if __name__ == "__main__":
    main()
