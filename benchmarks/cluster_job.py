# Wide & deep as a job of trainers and servers with timers inside, which benchmarks/cluster.py runs on each engine.
from __future__ import annotations

import math
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import paddle_mini as pm
import workloads
from measuring import cpu_seconds

POOL = 16
"""Number of batches that are used in turn, so that steps name different rows."""
WARM = 24
"""Steps of warm-up, after which every plan exists."""
PARTS = ("exchange", "write rows", "forward and backward")

Arrays = list[np.ndarray]
Shapes = list[tuple[tuple[int, ...], str]]


class Message(NamedTuple):
    """Shapes and dtypes of one message to a server and of its reply."""

    server: int
    sent: Shapes
    received: Shapes


class Timing(NamedTuple):
    """ends: the time at which each step ended, on a clock of the machine. parts: seconds of each step, by PARTS.
    messages: of one step. joined: the time at which the trainer could start. compute: CPU seconds of the trainer's thread in
    a step, without the exchange and what prepares it."""

    ends: list[float]
    parts: dict[str, list[float]]
    messages: list[list[Message]]
    joined: float
    compute: float = 0.0


def rate(timings: Sequence[Timing]) -> float:
    """Bytes per second that all trainers moved through servers while all of them trained."""
    begin, end = max(one.ends[0] for one in timings), min(one.ends[-1] for one in timings)
    steps = [sum(begin < moment <= end for moment in one.ends) for one in timings]
    return sum(count * step_bytes(one.messages) for count, one in zip(steps, timings)) / (end - begin)


def step_bytes(messages: list[list[Message]]) -> int:
    shapes = [shape for some in messages for one in some for shape in one.sent + one.received]
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes)


def working(job: Callable[[], list[Timing]]) -> tuple[list[Timing], dict[str, float]]:
    """A job's timings; CPU time of a trainer's step in all processes together (work); the job's steps per second, which are
    fewer when other programs use the machine; and the cores that it uses (share)."""
    samples: list[tuple[float, float]] = []
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(0.1):  # looking at all processes takes time, too
            samples.append((time.monotonic(), cpu_seconds() - time.thread_time()))

    watching = threading.Thread(target=sample)
    watching.start()
    try:
        timings = job()
    finally:
        ended.set()
        watching.join()
    begin, end = max(one.ends[0] for one in timings), min(one.ends[-1] for one in timings)
    inside = [sample for sample in samples if begin <= sample[0] <= end]
    if len(inside) < 2:
        raise RuntimeError(f"{len(inside)} samples of {len(samples)} are from the {end - begin:.1f} s of the job")
    (first, before), (last, after) = inside[0], inside[-1]
    steps = sum(first < moment <= last for one in timings for moment in one.ends)
    share = (after - before) / (last - first)
    return timings, {"work": share * (last - first) / max(1, steps), "steps": steps / (last - first), "share": share}


def build() -> tuple[Any, list[dict[str, np.ndarray]]]:
    """The loss, minimized by two optimizers, ftrl for the wide part and adagrad for the deep one, and batches. Values
    differ from those of workloads.wide_deep(); sizes and the distribution of ids are the same."""
    work = workloads.wide_deep()
    ids, dense, label = (pm.layers.data(name, [-1, *array.shape[1:]], str(array.dtype)) for name, array in work.feeds.items())
    deep, wide = (
        pm.layers.embedding(ids, list(work.params[name].shape), is_sparse=True, param_attr=name)
        for name in ("deep_table", "wide_table")
    )
    x = pm.layers.concat([pm.layers.reshape(deep, [0, -1]), dense], axis=1)
    for i, size in enumerate((400, 400, 400, 1)):
        x = pm.layers.fc(x, size, act="relu" if size > 1 else None, param_attr=f"deep{i}.w", bias_attr=f"deep{i}.b")
    linear = pm.layers.fc(dense, 1, param_attr="wide.w", bias_attr="wide.b")
    logits = pm.layers.elementwise_add(x, pm.layers.elementwise_add(pm.layers.reduce_sum(wide, dim=1), linear))
    loss = pm.layers.mean(pm.layers.sigmoid_cross_entropy_with_logits(logits, label))
    names = [parameter.name for parameter in pm.default_main_program().all_parameters()]
    pm.optimizer.Ftrl(0.01).minimize(loss, parameter_list=[name for name in names if name.startswith("wide")])
    pm.optimizer.Adagrad(0.01).minimize(loss, parameter_list=[name for name in names if name.startswith("deep")])
    return loss, _batches(work.feeds)


def _batches(feeds: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    draw = np.random.default_rng(9)
    return [{**feeds, "ids": draw.integers(0, 1_000_000, feeds["ids"].shape)} for _ in range(POOL)]


def trained(engine: str, trainers: int, servers: int, steps: int, computes: bool, merged: int = 0) -> list[Timing]:
    """A job of train()."""
    with tempfile.TemporaryDirectory() as ready:
        arguments = (steps, computes, merged, ready)
        return pm.cluster.run(train, trainers, servers, engine=engine, args=arguments).returned


def train(steps: int, computes: bool, merged: int, ready: str) -> Timing:
    """computes: False omits the forward and backward pass and sends gradients of an earlier step, which leaves the exchange
    and writing. merged: the batches of Trainer.steps(), which has no parts; 0: Trainer.run(). ready: a folder in which each
    trainer has a file when it could start; they start together."""
    loss, batches = build()
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    trainer = pm.cluster.join(exe=exe)
    joined = time.monotonic()
    train_step = trainer._train_step  # timed from outside, so that a step contains no clocks
    Path(ready, str(train_step._process.membership.number)).touch()
    while len(list(Path(ready).iterdir())) < train_step._process.settings.trainers:
        time.sleep(0.01)
    if not computes:
        train_step._exe = _Remembering(exe)
    messages: list[list[Message]] = []
    parts: dict[str, list[float]] = {name: [] for name in PARTS}
    ends = []
    if merged:
        staged, began = _count_cpu(train_step._process, "stage"), time.thread_time()
        for _ in trainer.steps((batches[step % POOL] for step in range(WARM + steps)), [loss], merged):
            ends.append(time.monotonic())
        compute = (time.thread_time() - began - sum(staged)) / (WARM + steps)
        return Timing(ends[WARM - 1 :], {}, [], joined, compute)
    for step in range(WARM + steps):
        if step == WARM - 1:
            train_step._process.client._link = _Recording(train_step._process.client._link, messages)
        elif step == WARM:
            train_step._process.client._link = train_step._process.client._link.link
            exchanged = _time_parts(train_step, parts)
            began = time.thread_time()
        trainer.run(batches[step % POOL], [loss])
        ends.append(time.monotonic())
    compute = (time.thread_time() - began - sum(exchanged)) / steps
    return Timing(ends[WARM - 1 :], {name: values[-steps:] for name, values in parts.items()}, messages, joined, compute)


def wait(seconds: float) -> Timing:
    """A job's function that joins with wide & deep, makes a step, and does nothing for so long."""
    loss, batches = build()
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    trainer = pm.cluster.join(exe=exe)
    trainer.run(batches[0], [loss])
    began = time.monotonic()
    time.sleep(seconds)
    return Timing([began + 1, time.monotonic()], {}, [], began)


def begin() -> float:
    """A job's function that joins with a model of one layer and returns the time at which it could start."""
    x = pm.layers.data("x", [-1, 8])
    pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.fc(x, 1)))
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    pm.cluster.join(exe=exe)
    return time.monotonic()


class _Remembering:
    """An executor that runs a program once for each batch; afterwards it returns the same results again."""

    def __init__(self, exe: pm.Executor):
        self._exe, self._results = exe, {}

    def run(self, program: Any, feed: Any, *rest: Any) -> Any:
        if id(feed) not in self._results:
            self._results[id(feed)] = self._exe.run(program, feed, *rest)
        return self._results[id(feed)]


class _Recording:
    """A link that records the messages to and from servers."""

    def __init__(self, link: Any, messages: list[list[Message]]):
        self.link, self._messages = link, messages

    def send(self, requests: Any, timeout: float) -> Any:
        answers = self.link.send(requests, timeout)
        some = [
            Message(int(request.service.split()[1]), _shapes(request.arrays), _shapes(answer[1]))
            for request, answer in zip(requests, answers)
            if request.service != "coordinator"
        ]
        if some:
            self._messages.append(some)
        return answers


def _shapes(arrays: Arrays) -> Shapes:
    return [(array.shape, array.dtype.str) for array in arrays]


def _time_parts(train_step: Any, parts: dict[str, list[float]]) -> list[float]:
    """Times every call; the tables of a step are timed together, and the exchange with the preparation of the next one.
    Returns the CPU seconds of exchanges and of preparations, as they are made."""
    exchanged = _count_cpu(train_step._process, "exchange", "stage")

    def timed(owner: Any, name: str, part: str, first: bool = True) -> None:
        call: Callable[..., Any] = getattr(owner, name)

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                seconds = time.perf_counter() - start
                parts[part].append(seconds) if first else parts[part].append(parts[part].pop() + seconds)

        setattr(owner, name, wrapped)

    timed(train_step._process, "exchange", "exchange")
    timed(train_step._process, "stage", "exchange", first=False)
    for number, table in enumerate(train_step._tables.values()):
        timed(table, "write", "write rows", first=number == 0)
    train_step._exe = _Called(train_step._exe)
    timed(train_step._exe, "run", "forward and backward")
    return exchanged


def _count_cpu(owner: Any, *names: str) -> list[float]:
    """The CPU seconds of all calls of these methods from now on, each in the thread that makes it."""
    seconds: list[float] = []

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def count(*args: Any) -> Any:
            begin = time.thread_time()
            try:
                return call(*args)
            finally:
                seconds.append(time.thread_time() - begin)

        return count

    for name in names:
        setattr(owner, name, counted(getattr(owner, name)))
    return seconds


class _Called:
    """A separate executor for `timed`, because the tables share one."""

    def __init__(self, exe: Any):
        self.run = exe.run
