# The figures: for each, the measurement, the peers and the target; every figure becomes rows of the table.
from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import workloads
from averaging import averaging
from environments import NotInstalled, command_of, compiled
from files import files
from measuring import HERE, Row, Settings, in_turn, start, start_ours
from worker import Worker, WorkerError

# A step of training shall be this many times as fast as in the fastest of the others.
BAR = 1.2
RUNTIMES = ("torch eager", "torch.compile", "paddle static", "paddle 3 static", "jax.jit", "tf.function", "tf.function jit")
CHANNELS_LAST = ("torch channels last", "torch.compile channels last")
ONNX = ("onnxruntime training",)


class Comparison(NamedTuple):
    """The same workload in several runtimes, which alternate in each round: A B C A B C …"""

    title: str
    steps: int  # steps in one round
    peers: tuple[str, ...] = RUNTIMES
    unit: str = "ms/step"
    limit: float | None = None  # required value, in the unit


COMPARISONS: dict[str, Comparison] = {
    "tiny_mlp": Comparison("MLP 64-128-10, batch 32, sgd", 100, RUNTIMES + ONNX),
    "chain": Comparison(
        "chain of 1,000 tiny operators",
        10,
        ("torch eager", "paddle static", "paddle 3 static", *ONNX),
        "µs/operator",  # 1,000 operators a step
        limit=0.25,
    ),
    "mlp": Comparison("MLP 784-512-512-10, batch 128, adam", 10, RUNTIMES + ONNX),
    "lenet": Comparison("LeNet, batch 64, momentum", 4, RUNTIMES + CHANNELS_LAST),
    "resnet": Comparison("ResNet for 32x32 images, batch 64, momentum", 2, RUNTIMES + CHANNELS_LAST),
    "lstm": Comparison("LSTM 256-256, 32 x 48 words, adam", 2),
    "gpt": Comparison("GPT of 4 blocks, 8 x 128 words, adamw", 1),
    "wide_deep": Comparison("wide & deep, 26 ids of 1,000,000, sparse sgd", 10),
}


def compare(workload: str, settings: Settings) -> Iterator[Row]:
    facts = COMPARISONS[workload]
    workers: dict[str, Worker] = {}
    absent: dict[str, str] = {}
    try:
        try:
            workers["ours"] = start_ours(workload, settings)
        except WorkerError as error:
            yield Row(facts.title, facts.unit, None, note=f"not measured: {error}")
            return
        expected = workers["ours"].result(5)
        for peer in facts.peers:
            try:
                workers[peer] = start(peer, command_of(peer), workload, settings)
                result = workers[peer].result(5)
                if not abs(result - expected) <= 1e-3 * abs(expected):
                    raise WorkerError(f"disagrees: {result:.6g}, ours {expected:.6g}")
            except (NotInstalled, WorkerError) as error:
                absent[peer] = str(error)
                if peer in workers:
                    workers.pop(peer).close()
        times = in_turn(
            {name: lambda worker=worker: worker.seconds(facts.steps) for name, worker in workers.items()}, settings.rounds
        )
    finally:
        for worker in workers.values():
            worker.close()
    value = {name: times[name] * 1e3 for name in workers}
    ours = value.pop("ours")
    if facts.limit is not None:
        yield Row(facts.title, facts.unit, ours, bar=f"≤ {facts.limit:g} {facts.unit}", met=ours <= facts.limit)
    fastest = min(value, key=value.__getitem__, default=None)
    for peer in facts.peers:
        if peer in absent:
            yield Row(facts.title, facts.unit, ours, peer, note=f"not measured: {absent[peer]}")
            continue
        ratio = value[peer] / ours
        bar, met = (f"≥ {BAR:g} ×", ratio >= BAR) if peer == fastest else ("", None)
        yield Row(facts.title, facts.unit, ours, peer, value[peer], ratio, bar, met)


# Bytes that one step must move for each parameter: sgd reads two arrays and writes one, and so on.
OPTIMIZER_BYTES = {"sgd": 12, "momentum": 20, "adam": 28}


def optimizers(name: str, settings: Settings) -> Iterator[Row]:
    """The optimizer's step alone, and STREAM in the same rounds."""
    elements = workloads.OPTIMIZER_ELEMENTS
    stream: dict[str, Worker] = {}
    for kernel in ("triad", "update"):
        stream[kernel] = start("stream", compiled(HERE / "stream.c"), kernel, settings)
    for tensors in workloads.OPTIMIZER_TENSORS:
        plain = start_ours(f"{name}_{tensors}", settings)
        try:
            moved = {kernel: worker.result(1) for kernel, worker in stream.items()}
            times = in_turn(
                {
                    "plain": lambda: plain.seconds(1),
                    **{kernel: lambda worker=worker: worker.seconds(1) for kernel, worker in stream.items()},
                },
                settings.rounds,
            )
        finally:
            plain.close()
        kernel, speed = max(((kernel, moved[kernel] / times[kernel]) for kernel in stream), key=lambda pair: pair[1])
        peer = f"STREAM {kernel}"
        achieved = OPTIMIZER_BYTES[name] * elements / 1e9 / times["plain"]
        title = f"{name}, 32 M parameters in {tensors:,} tensors"
        yield Row(title, "GB/s", achieved, peer, speed, achieved / speed, "≥ 0.9 ×", achieved >= 0.9 * speed)
    for worker in stream.values():
        worker.close()


def sparse_growth(settings: Settings) -> Iterator[Row]:
    """The same rows looked up and updated in tables of each size: the ratio of a step's time in the largest."""
    first, *larger = workloads.SPARSE_ROWS
    for name in ("sgd", "adagrad"):
        workers = {rows: start_ours(f"sparse_{name}_{rows}", settings) for rows in workloads.SPARSE_ROWS}
        try:
            times = in_turn(
                {str(rows): lambda worker=worker: worker.seconds(200) for rows, worker in workers.items()}, settings.rounds
            )
        finally:
            for worker in workers.values():
                worker.close()
        least = 1e3 * times[str(first)]
        yield Row(f"sparse {name}, 10,000 rows of {first:,}", "ms/step", least)
        for rows in larger:
            taken = 1e3 * times[str(rows)]
            yield Row(
                f"sparse {name}, 10,000 rows of {rows:,}",
                "ms/step",
                taken,
                f"of {first:,}",
                least,
                taken / least,
                "≤ 1.2 ×",
                taken <= 1.2 * least,
            )


def import_time(settings: Settings) -> Iterator[Row]:
    program = "import time; t = time.perf_counter(); import paddle_mini; print(time.perf_counter() - t)"
    times = [
        float(
            subprocess.run(
                ["taskset", "-c", str(settings.cpus), sys.executable, "-c", program], check=True, capture_output=True, text=True
            ).stdout
        )
        for _ in range(settings.rounds)
    ]
    seconds = statistics.median(times)
    yield Row("import paddle_mini", "s", seconds, bar="≤ 0.12 s", met=seconds <= 0.12)


FIGURES: dict[str, Callable[[Settings], Iterator[Row]]] = {
    **{name: lambda settings, name=name: compare(name, settings) for name in COMPARISONS},
    **{name: lambda settings, name=name: optimizers(name, settings) for name in OPTIMIZER_BYTES},
    "averaging": averaging,
    "files": files,
    "sparse": sparse_growth,
    "import": import_time,
}
