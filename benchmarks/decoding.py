# Writing a text word by word with a cache of keys and values, beside PyTorch and the speed of reading memory.
"""A GPT of 12 blocks of width 768 (Radford et al. 2019, with 8,000 words) and texts of 512 words, one at a time. A word reads all
weights but the tables, and the keys and values of all 512 places: these bytes by the time are compared with STREAM's `read` in
the same rounds.

    python benchmarks/decoding.py [--rounds 15] [--threads 1] [--write]
"""

from __future__ import annotations

import argparse
import os
import sys

import workloads
from environments import NotInstalled, compiled, python_of
from measuring import HERE, Settings, in_turn, start
from run import write_table
from worker import Worker, WorkerError

STEPS = 8
SIZE, LENGTH = workloads.WRITER, workloads.WRITER_LENGTH
# Weights, biases and two norms of a block; the last norm and the head; the cache.
PARAMETERS = SIZE.blocks * (12 * SIZE.width**2 + 13 * SIZE.width) + 2 * SIZE.width + (SIZE.width + 1) * SIZE.words
BYTES = 4 * (PARAMETERS + 2 * SIZE.blocks * LENGTH * SIZE.width)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the table to results/")
    arguments = parser.parse_args()
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[-arguments.threads :]))
    settings = Settings(arguments.rounds, cpus, arguments.threads)
    workers, notes = started(settings)
    moved = workers["read"].result(1)
    times = in_turn({name: lambda one=one: one.seconds(STEPS) for name, one in workers.items()}, arguments.rounds)
    speed = {name: (moved if name == "read" else BYTES / 1e9) / seconds for name, seconds in times.items()}
    lines = ["| | ms for each word | GB/s | of STREAM's read |", "|---|---|---|---|"]
    for name, seconds in times.items():
        each = "" if name == "read" else f"{1e3 * seconds:.1f}"
        lines.append(f"| {name} | {each} | {speed[name]:.1f} | {speed[name] / speed['read']:.2f} |")
    lines += notes
    print("\n".join(lines))
    if arguments.write:
        write_table("A word of a GPT", "decoding", f"{BYTES / 1e6:.0f} MB a word; ", lines, settings)


def started(settings: Settings) -> tuple[dict[str, Worker], list[str]]:
    """STREAM, ours and PyTorch, unless its sum of scores differs from ours by more than 0.1 %; then the reason."""
    workers = {
        "read": start("stream", compiled(HERE / "stream.c"), "read", settings),
        "ours": start("ours", [sys.executable, str(HERE / "ours_decoding.py")], "words", settings),
    }
    expected = workers["ours"].result(STEPS)
    try:
        worker = start("PyTorch", [str(python_of("torch")), str(HERE / "peers" / "torch_decoding.py")], "words", settings)
        found = worker.result(STEPS)
    except (NotInstalled, WorkerError) as error:
        return workers, ["", f"PyTorch: {error}"]
    if abs(found - expected) > 1e-3 * abs(expected):
        worker.close()
        return workers, ["", f"PyTorch: its scores' sum is {found:.6g}, ours {expected:.6g}"]
    return {**workers, "PyTorch": worker}, []


if __name__ == "__main__":
    main()
