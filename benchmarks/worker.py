# One runtime in its own process, alive during the benchmark: the serving side and the requesting side.
#
# Lines over pipes:   prepare WORKLOAD  ->  ok | error REASON
#                     run STEPS         ->  ok SECONDS RESULT | error REASON
# RESULT is the loss of the last step, or another result of the workload.
from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Run = Callable[[int], float]

# OpenMP's threads wait actively, Intel's for 0.2 s, and would take CPUs from the runtime whose turn is next.
ACTIVE_WAIT = 0.3

# In a worker: the number of threads that its runtime may use.
THREADS = int(os.environ.get("PM_NUM_THREADS", "1"))


def variables_of(threads: int) -> dict[str, str]:
    """Environment variables by which each library uses that many threads, on a CPU."""
    number = str(threads)
    one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return {
        "PM_NUM_THREADS": number,
        "OMP_NUM_THREADS": number,
        "MKL_NUM_THREADS": number,
        "OPENBLAS_NUM_THREADS": number,
        "TF_NUM_INTRAOP_THREADS": number,
        "TF_NUM_INTEROP_THREADS": number,
        "XLA_FLAGS": one if threads == 1 else "",  # else as many as CPUs, which the worker is bound to
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "JAX_PLATFORMS": "cpu",
        "CUDA_VISIBLE_DEVICES": "",
    }


ONE_THREAD = variables_of(1)


def sum_of_sample(values) -> float:
    """The sum of the magnitudes of at most 131,072 elements of a NumPy array, evenly spread, as the result of a step: a sum of
    65 MB would take as long as a fifth of a GPT's inference."""
    sample = values.reshape(-1)[:: values.size // (1 << 16) | 1]
    return float(abs(sample).sum(dtype="float64"))


def serve(workloads: Mapping[str, Callable[[], Run]]) -> None:
    """Replies to requests on standard input until it ends; `workloads` make functions that run steps."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # output of libraries must not mix with replies
    run: Run = lambda steps: 0.0
    for line in sys.stdin:
        word, argument = line.split()
        try:
            if word == "prepare":
                run = workloads[argument]()
                answers.write("ok\n")
                continue
            begin = time.perf_counter()
            result = run(int(argument))
            answers.write(f"ok {time.perf_counter() - begin!r} {result!r}\n")
        except Exception as error:
            answers.write(f"error {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}\n")


class WorkerError(Exception):
    """The text of a runtime's error reply."""


class Worker:
    """A runtime in a process bound to `cpus`, in taskset's notation; `variables` of its environment come last."""

    def __init__(
        self, command: Sequence[str], cpus: int | str, log: Path, threads: int = 1, variables: Mapping[str, str] | None = None
    ):
        here = Path(__file__).parent
        self.process = subprocess.Popen(
            ["taskset", "-c", str(cpus), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            stderr=log.open("w"),
            env={**os.environ, **variables_of(threads), "PYTHONPATH": str(here), **(variables or {})},
        )
        self.log, self.threads = log, threads

    def prepare(self, workload: str) -> None:
        self._ask(f"prepare {workload}")

    def result(self, steps: int) -> float:
        """Runs `steps` steps; returns the last result."""
        return float(self._ask(f"run {steps}")[1])

    def seconds(self, steps: int) -> float:
        """Seconds per step of `steps` steps. Returns when the runtime's threads no longer wait actively."""
        seconds = float(self._ask(f"run {steps}")[0]) / steps
        if self.threads > 1:
            time.sleep(ACTIVE_WAIT)
        return seconds

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()

    def _ask(self, request: str) -> list[str]:
        try:
            self.process.stdin.write(request + "\n")
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer.startswith("ok"):
            raise WorkerError(answer[len("error ") :].strip() or f"ended; see {self.log}")
        return answer.split()[1:]
