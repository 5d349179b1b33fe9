# How much faster a step is with more threads: 1, 2, 4, ... up to the CPUs of this process, in turn in one process.
#
#   python benchmarks/scaling.py [--seconds 8] [--threads 1,2,4] [WORKLOAD ...]
#
# Prints one row for each workload: milliseconds with one thread, and the ratio of one thread's time to that of each other
# number. Each is the median of rounds in which every number of threads has its turn, so that a busy machine slows all of
# them alike. Two more rows show what the machine itself gains at that time: executors with one thread each, in as many
# Python threads, each with a model of its own; and processes that count to a number.
from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

import ours
import paddle_mini as pm

WORKLOADS: dict[str, Callable[[], Callable[[int], float]]] = {
    name: getattr(ours, name) for name in ("tiny_mlp", "chain", "mlp", "lenet", "resnet", "lstm", "gpt", "wide_deep")
} | {name: make for name, make in ours.optimizer_steps().items() if name in ("sgd_8", "adam_8")}
COUNTING = "import sys\nsys.stdin.read()\nfor _ in range(3_000_000): pass"


def numbers_of_threads() -> list[int]:
    most = pm.num_threads()
    return sorted({1, most, *(2**i for i in range(most.bit_length()) if 2**i < most)})


def scaling(run: Callable[[int], float], counts: Sequence[int], seconds: float) -> dict[int, float]:
    """Median seconds of a step with each number of threads."""
    run(2)
    begin = time.perf_counter()
    run(1)
    steps = max(1, round(0.02 / (time.perf_counter() - begin)))
    times: dict[int, list[float]] = {count: [] for count in counts}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[counts[0]]) < 5:
        for count in counts:
            pm.set_num_threads(count)
            run(1)
            begin = time.perf_counter()
            run(steps)
            times[count].append((time.perf_counter() - begin) / steps)
    return {count: statistics.median(values) for count, values in times.items()}


def executors_at_once(counts: Sequence[int], seconds: float) -> dict[int, float]:
    """Median seconds until each of that many executors has run ten steps of mlp, divided by their number."""
    pm.set_num_threads(1)
    runs = [ours.mlp() for _ in range(max(counts))]
    times: dict[int, list[float]] = {count: [] for count in counts}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[counts[0]]) < 5:
        for count in counts:
            threads = [threading.Thread(target=run, args=(10,)) for run in runs[:count]]
            begin = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            times[count].append((time.perf_counter() - begin) / count)
    return {count: statistics.median(values) for count, values in times.items()}


def counting(processes: int) -> float:
    """Seconds until that many processes have counted to a number."""
    children = [subprocess.Popen([sys.executable, "-c", COUNTING], stdin=subprocess.PIPE) for _ in range(processes)]
    time.sleep(0.5)  # all have started
    begin = time.perf_counter()
    for child in children:
        child.communicate()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description="How much faster a step is with more threads.")
    parser.add_argument("--seconds", type=float, default=8, help="of each workload")
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")], default=numbers_of_threads())
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=" ".join(WORKLOADS))
    arguments = parser.parse_args()
    unknown = set(arguments.workloads) - set(WORKLOADS)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: workloads are {', '.join(WORKLOADS)}")
    first, *others = arguments.threads
    print(f"{'':12}{f'{first} thread, ms':>14}" + "".join(f"{count:>8}" for count in others))
    for name in arguments.workloads or WORKLOADS:
        found = scaling(WORKLOADS[name](), arguments.threads, arguments.seconds)
        ratios = "".join(f"{found[first] / found[count]:8.2f}" for count in others)
        print(f"{name:12}{found[first] * 1e3:14.4f}{ratios}", flush=True)
    found = executors_at_once(arguments.threads, arguments.seconds)
    print(f"{'executors':12}{'':14}" + "".join(f"{found[first] / found[count]:8.2f}" for count in others), flush=True)
    alone = statistics.median(counting(first) for _ in range(3)) / first
    ratios = "".join(f"{alone * count / statistics.median(counting(count) for _ in range(3)):8.2f}" for count in others)
    print(f"{'processes':12}{'':14}{ratios}")


if __name__ == "__main__":
    main()
