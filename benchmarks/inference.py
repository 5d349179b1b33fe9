# Inference from a saved model: with the passes, without them, and by PaddlePaddle's predictor with oneDNN, in turn.
#
#   python benchmarks/inference.py [--threads 1] [--batches 1,16] [--rounds 9] [MODEL ...]
#
# Prints milliseconds of a run, medians. Results of all three must agree.
from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

import paddle_mini as pm
from environments import FOLDER, NotInstalled, python_of
from inference_models import MODELS, save
from worker import Worker


def ours(prefix: str, x: np.ndarray, passes: str | None, threads: int) -> Callable[[int], float]:
    """A function that runs the model and returns the sum of its result; planned with these passes, None: all."""
    before = os.environ.pop("PM_PASSES", None)
    if passes:
        os.environ["PM_PASSES"] = passes
    exe, scope = pm.Executor(threads=threads), pm.Scope()
    program, _, fetches = pm.io.load_inference_model(prefix, exe, scope=scope)

    def run(steps: int) -> float:
        for _ in range(steps):
            (out,) = exe.run(program, {"x": x}, fetches, scope)
        return float(out.sum())

    run(1)
    os.environ.pop("PM_PASSES", None)
    if before:
        os.environ["PM_PASSES"] = before
    return run


def seconds(run: Callable[[int], float], steps: int) -> float:
    begin = time.perf_counter()
    run(steps)
    return (time.perf_counter() - begin) / steps


def measured(prefix: str, x: np.ndarray, threads: int, rounds: int) -> list[float]:
    """Medians: with passes, without, and the peer's if it is installed."""
    np.save(prefix + ".npy", x)
    runs = [ours(prefix, x, passes, threads) for passes in (None, "none")]
    measures = [lambda steps, run=run: seconds(run, steps) for run in runs]
    results = [run(1) for run in runs]
    peer = None
    try:
        python = python_of("paddle")
    except NotInstalled as error:
        print(f"PaddlePaddle is not installed: {error}", file=sys.stderr)
    else:
        script = os.path.join(os.path.dirname(__file__), "peers", "paddle_inference.py")
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))
        peer = Worker([str(python), script], cpus, FOLDER / "paddle_inference.log", threads)
        peer.prepare(prefix)
        results.append(peer.result(1))
        measures.append(peer.seconds)
    np.testing.assert_allclose(results, results[0], rtol=1e-3, atol=1e-3)
    steps = max(1, round(0.05 / measures[0](1)))
    times: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):  # in another order each time: a runtime's threads may still spin while the next one runs
        for i in random.sample(range(len(measures)), len(measures)):
            measures[i](1)
            times[i].append(measures[i](steps))
    if peer:
        peer.close()
    return [statistics.median(one) for one in times]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batches", default="1,16")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("models", nargs="*", metavar="MODEL", default=list(MODELS))
    given = parser.parse_args()
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[: given.threads]))
    print("| model | batch | ms | without passes | PaddlePaddle's predictor |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.models:
            prefix = os.path.join(folder, name)
            shape = save(name, prefix)
            for batch in map(int, given.batches.split(",")):
                x = np.random.RandomState(0).randn(batch, *shape).astype("float32")
                cells = [f"{1e3 * value:.2f}" for value in measured(prefix, x, given.threads, given.rounds)]
                print(f"| {name} | {batch} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
