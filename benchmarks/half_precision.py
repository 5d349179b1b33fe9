# bfloat16 beside float32 on this CPU: a product, a step of the GPT, the memory of its run, and losses over many steps.
"""Every figure compares programs of one process that take turns, on one thread.

    python benchmarks/half_precision.py [--rounds 9] [--steps 500] [--seeds 3]

Times are of the process's CPU, which other processes disturb less than the clock. The arena of a plan holds all variables
that are not persistable: the activations that wait for backward, and what a run needs beside them. Losses are means of the
last tenth of the steps on new data; the interval is Student's, of the differences to float32 from the same values and data.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ours
import paddle_mini as pm
import workloads
from measuring import in_turn
from paddle_mini import _core

RESULTS = Path(__file__).parent / "results"
SIZE = 1024
SMALL_GPT = workloads.GptSize(blocks=2, heads=4, width=64, words=64)
TEXTS, TIME, IMAGES, SIDE = 8, 32, 32, 16
T_OF_TWO_SIDES = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776}  # 95 %, by the number of seeds

PRECISIONS: dict[str, Callable[[Any], Any]] = {
    "float32": lambda optimizer: optimizer,
    "O1": lambda optimizer: pm.amp.decorate(optimizer, level="O1"),
    "O2": lambda optimizer: pm.amp.decorate(optimizer, level="O2"),
}
Feeds = dict[str, np.ndarray]


class Training:
    """A network with its optimizer; feeds: of one step. The same seed gives the same parameters in each precision."""

    def __init__(self, network: Callable[[Any], Any], optimizer: Any, precision: str, feeds: Feeds, seed: int = 1):
        self.built = ours.Built()
        with self.built.guard():
            data = {name: pm.layers.data(name, list(array.shape), str(array.dtype)) for name, array in feeds.items()}
            self.loss = network(data)
            PRECISIONS[precision](optimizer).minimize(self.loss)
        pm.seed(seed)
        self.built.exe.run(self.built.startup, scope=self.built.scope)

    def step(self, feeds: Feeds) -> float:
        built = self.built
        return float(built.exe.run(built.main, feeds, [self.loss], built.scope)[0])

    def arena(self, feeds: Feeds) -> int:
        """Bytes of the variables that are not persistable."""
        text = self.built.exe.plan_text(self.built.main, feeds, [self.loss], self.built.scope)
        return int(re.search(r"arena of (\d+) bytes", text)[1])

    def copies(self) -> int:
        """Bytes of the parameters' copies in 16 bits, which the arena holds until backward."""
        block = self.built.main.global_block()
        cast = (block.var(op.input("X")[0]) for op in block.ops if op.type == "cast" and op.attr("op_role") == 0)
        return sum(2 * math.prod(var.shape) for var in cast if var.persistable and var.dtype == "float32")


def cpu_seconds(call: Callable[[], Any]) -> Callable[[], float]:
    def measure() -> float:
        begin = time.process_time()
        call()
        return time.process_time() - begin

    return measure


def product(dtype: str) -> Callable[[], Any]:
    built = ours.Built()
    with built.guard():
        x, y = (pm.layers.data(name, [SIZE, SIZE], dtype) for name in ("x", "y"))
        pm.layers.matmul(x, y)
    values = np.random.default_rng(1).standard_normal((SIZE, SIZE)).astype("float32")
    fed = values if dtype == "float32" else (values.view("uint32") >> 16).astype("uint16")
    return lambda: [built.exe.run(built.main, {"x": fed, "y": fed}) for _ in range(5)]


def texts(draw: np.random.Generator, follows: np.ndarray) -> Feeds:
    """Texts of which each word has four likely next ones."""
    ids = np.empty((TEXTS, TIME + 1), "int64")
    ids[:, 0] = draw.integers(0, len(follows), TEXTS)
    for i in range(TIME):
        likely = follows[ids[:, i], draw.integers(0, follows.shape[1], TEXTS)]
        ids[:, i + 1] = np.where(draw.random(TEXTS) < 0.9, likely, draw.integers(0, len(follows), TEXTS))
    return {"ids": ids[:, :-1], "label": ids[:, 1:].reshape(-1, 1)}


def images(draw: np.random.Generator, classes: np.ndarray) -> Feeds:
    """An image of each label's class, under noise."""
    label = draw.integers(0, len(classes), (IMAGES, 1))
    x = 0.25 * classes[label[:, 0]] + draw.standard_normal((IMAGES, *classes.shape[1:]))
    return {"x": x.astype("float32"), "label": label}


def gpt_losses(precision: str, seed: int, steps: int) -> list[float]:
    draw = np.random.default_rng(seed)
    follows = draw.integers(0, SMALL_GPT.words, (SMALL_GPT.words, 4))
    optimizer = pm.optimizer.AdamW(1e-3, weight_decay=workloads.GPT_DECAY, **workloads.ADAM)
    feeds = [texts(draw, follows) for _ in range(steps)]
    training = Training(lambda data: ours.gpt_loss(data, SMALL_GPT), optimizer, precision, feeds[0], seed)
    return [training.step(one) for one in feeds]


def resnet_losses(precision: str, seed: int, steps: int) -> list[float]:
    draw = np.random.default_rng(seed)
    classes = draw.standard_normal((10, 3, SIDE, SIDE))
    feeds = [images(draw, classes) for _ in range(steps)]
    training = Training(ours.resnet_loss, pm.optimizer.Momentum(1e-2, workloads.MOMENTUM), precision, feeds[0], seed)
    return [training.step(one) for one in feeds]


def speed(rounds: int) -> list[str]:
    products = in_turn({dtype: cpu_seconds(product(dtype)) for dtype in ("float32", "bfloat16")}, rounds)
    flops = 5 * 2 * SIZE**3
    lines = [
        f"| product of {SIZE} x {SIZE} matrices | "
        + ", ".join(f"{flops / t / 1e9:.0f}" for t in products.values())
        + f" GFLOP/s | {products['float32'] / products['bfloat16']:.2f} | ≥ 1.7 |"
    ]
    work = workloads.gpt()
    trainings = {
        name: Training(
            ours.gpt_loss, pm.optimizer.AdamW(work.rate, weight_decay=workloads.GPT_DECAY, **workloads.ADAM), name, work.feeds
        )
        for name in PRECISIONS
    }
    times = in_turn({name: cpu_seconds(lambda one=one: one.step(work.feeds)) for name, one in trainings.items()}, rounds)
    bytes_of = {name: one.arena(work.feeds) for name, one in trainings.items()}
    activations = {name: bytes_of[name] - one.copies() for name, one in trainings.items()}
    for name in list(PRECISIONS)[1:]:
        lines += [
            f"| step of the GPT, {name} | {times['float32'] * 1e3:.0f}, {times[name] * 1e3:.0f} ms "
            f"| {times['float32'] / times[name]:.2f} | ≥ 1.4 |",
            f"| its arena, {name} | {bytes_of['float32'] / 1e6:.0f}, {bytes_of[name] / 1e6:.0f} MB "
            f"| {bytes_of[name] / bytes_of['float32']:.2f} | |",
            f"| its activations: the arena without copies of parameters, {name} | {bytes_of['float32'] / 1e6:.0f}, "
            f"{activations[name] / 1e6:.0f} MB | {activations[name] / bytes_of['float32']:.2f} | ≤ 0.6 |",
        ]
    return ["| figure | float32, bfloat16 | ratio | bar |", "|---|---|---|---|", *lines]


def losses(steps: int, seeds: int) -> list[str]:
    lines = [
        f"| losses after {steps} steps, {seeds} seeds | float32 | spread of its seeds | bfloat16 − float32, 95 % interval |",
        "|---|---|---|---|",
    ]
    for network, losses_of in {"GPT": gpt_losses, "ResNet": resnet_losses}.items():
        ends = {
            name: [statistics.mean(losses_of(name, seed, steps)[-steps // 10 :]) for seed in range(1, seeds + 1)]
            for name in PRECISIONS
        }
        wide = ends["float32"]
        for name in list(PRECISIONS)[1:]:
            differences = [narrow - one for narrow, one in zip(ends[name], wide)]
            half = T_OF_TWO_SIDES[seeds] * statistics.stdev(differences) / seeds**0.5
            middle = statistics.mean(differences)
            lines.append(
                f"| {network}, {name} | {statistics.mean(wide):.4f} | {statistics.stdev(wide):.4f} "
                f"| {middle - half:+.4f} to {middle + half:+.4f} |"
            )
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3, choices=T_OF_TWO_SIDES)
    arguments = parser.parse_args()
    pm.set_num_threads(1)
    cpu = next(line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line)
    lines = [
        f"# bfloat16 beside float32: {cpu}, kernels {_core.kernel_library()['level']}",
        "",
        f"One thread; medians of {arguments.rounds} rounds in turn, in CPU time (`benchmarks/half_precision.py`).",
        "",
        *speed(arguments.rounds),
        "",
    ]
    print("\n".join(lines), flush=True)
    lines += losses(arguments.steps, arguments.seeds)
    (RESULTS / "half_precision.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
