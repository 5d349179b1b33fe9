# Figures of averaging: alone, around optimizers, several at once, against peers, in a model.
from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

import workloads
from environments import NotInstalled, command_of, compiled
from measuring import HERE, Row, Settings, in_turn, start
from worker import Worker, WorkerError

# The update loop of the same run moves 12 bytes a parameter. An average alone also moves 12, and 8 more in every 16th
# step.
UPDATE_BYTES, AVERAGE_BYTES = 12, 12.5
# Each average follows an optimizer that has the parameter in its cache: the average is read and written. The fourth has
# a decay of 0.9, which makes blocks of 4 steps.
FUSED_BYTES, SHORT_BLOCK_BYTES = 8.5, 10


class Times(NamedTuple):
    """Seconds per step by name, and the reasons why some names have none."""

    seconds: dict[str, float]
    absent: dict[str, str]

    def of_bytes(self, moved: float) -> float:
        """Seconds that this number of bytes per parameter takes at the speed of the update loop."""
        return self.seconds["STREAM update"] * moved / UPDATE_BYTES


def averaging(settings: Settings) -> Iterator[Row]:
    few, many = workloads.OPTIMIZER_TENSORS
    yield from alone_and_behind(few, settings)
    yield from alone_and_behind(many, settings)
    yield from several(few, settings)
    yield from halves(few, settings)
    yield from beside_peers(few, settings)
    yield from beside_peers(many, settings)
    yield from model(settings)


# Bytes moved per parameter, fused and separate: (b + 8) / (b + 12) is the ideal ratio.
OPTIMIZERS: dict[str, tuple[int, float | None]] = {"sgd": (12, 0.85), "momentum": (20, None), "adam": (28, 0.92)}


def alone_and_behind(tensors: int, settings: Settings) -> Iterator[Row]:
    """The average's operators against their bytes, and fused with the optimizer's tile by tile against executed
    separately."""
    few, _ = workloads.OPTIMIZER_TENSORS
    names = [f"alone_{tensors}_exponential", *(f"{name}_{tensors}" for name in OPTIMIZERS)]
    names += [f"alone_{few}_exponential"] if tensors != few else []
    names += [
        f"{name}_{tensors}_{scheme}{way}"
        for name in OPTIMIZERS
        for scheme in ("exponential", "window")
        for way in ("", "_separate")
    ]
    times = timed({"STREAM update": ("stream", "update"), **_ours(*names)}, settings)
    title, taken = f"32 M parameters in {tensors:,} tensors", times.seconds
    yield _bound(f"average alone, {title}", taken[names[0]], times, AVERAGE_BYTES, "≤ 1.05 ×", 1.05)
    if tensors != few:
        yield _at_most(
            f"average alone, {title}", taken[names[0]], f"in {few} tensors", taken[f"alone_{few}_exponential"], "≤ 1 ×", 1.0
        )
    for name, (moved, bar) in OPTIMIZERS.items():
        for scheme in ("exponential", "window"):
            fused, separate = (taken[f"{name}_{tensors}_{scheme}{way}"] for way in ("", "_separate"))
            ideal = (moved + FUSED_BYTES) / (moved + AVERAGE_BYTES)
            yield _at_most(
                f"{name} with {scheme}, {title}",
                fused,
                "one after the other",
                separate,
                "" if bar is None else f"≤ {bar:g} ×",
                bar,
                note=f"its bytes: {ideal:.3f} ×",
            )
            yield _bound(f"{scheme} behind {name}, {title}", fused - taken[f"{name}_{tensors}"], times, FUSED_BYTES)


def several(tensors: int, settings: Settings) -> Iterator[Row]:
    """The cost of each further average around sgd; all averages read the parameters once."""
    numbers = ("one", "two", "three", "four")
    names = [f"sgd_{tensors}", f"sgd_{tensors}_exponential", *(f"sgd_{tensors}_{number}" for number in numbers[1:])]
    times = timed({"STREAM update": ("stream", "update"), **_ours(*names)}, settings)
    for number, before, name in zip(numbers, names, names[1:]):
        yield _bound(
            f"average {number} behind sgd",
            times.seconds[name] - times.seconds[before],
            times,
            SHORT_BLOCK_BYTES if number == "four" else FUSED_BYTES,
            "≤ 1.1 ×",
            1.1,
        )


# Bytes that the operator moves: the parameter is read; the average and its rounding errors are read and written.
OTHER_BYTES = {"bfloat16": 2 + FUSED_BYTES, "float16": 2 + FUSED_BYTES, "compensated": 4 + 16, "window": AVERAGE_BYTES}


def halves(tensors: int, settings: Settings) -> Iterator[Row]:
    names = [f"alone_{tensors}_{kind}" for kind in OTHER_BYTES]
    times = timed({"STREAM update": ("stream", "update"), **_ours(*names)}, settings)
    for kind, moved in OTHER_BYTES.items():
        what = f"float32 average of {kind} alone" if "float" in kind else f"{kind} average alone"
        yield _bound(what, times.seconds[f"alone_{tensors}_{kind}"], times, moved)


def beside_peers(tensors: int, settings: Settings) -> Iterator[Row]:
    """Our operators alone against the peers' update alone; against Keras, the time that an average adds to a step of sgd."""
    ours, window = f"alone_{tensors}_exponential", f"alone_{tensors}_window"
    plain, behind = f"sgd_{tensors}", f"sgd_{tensors}_exponential"
    peers = {
        "torch AveragedModel foreach": ("torch AveragedModel", f"averaged_model_{tensors}"),
        "timm ModelEmaV3 foreach": ("timm ModelEmaV3", f"model_ema_v3_{tensors}"),
        "paddle static EMA": ("paddle averages", f"exponential_{tensors}"),
        "paddle ModelAverage": ("paddle averages", f"model_average_{tensors}"),
    }
    kerases = ("keras use_ema", "keras use_ema jit")
    steps = {f"{keras} {kind}": (keras, f"{kind}_{tensors}") for keras in kerases for kind in ("sgd", "sgd_averaged")}
    times = timed({**_ours(ours, window, plain, behind), **peers, **steps}, settings)
    taken, title = times.seconds, f"32 M parameters in {tensors:,} tensors"
    for peer in peers:
        alone = taken[window if peer == "paddle ModelAverage" else ours]
        yield _faster(f"average alone, {title}", "ms", alone, peer, times)
    for keras in kerases:
        without, averaged = f"{keras} sgd", f"{keras} sgd_averaged"
        missing = next((times.absent[name] for name in (without, averaged) if name in times.absent), None)
        if missing is None:
            taken[keras] = taken[averaged] - taken[without]
        else:
            times.absent[keras] = missing
        yield _faster(f"exponential behind sgd, {title}", "ms more", taken[behind] - taken[plain], keras, times)


def model(settings: Settings) -> Iterator[Row]:
    """A step of wide & deep with tables that are averaged row by row."""
    schemes = ("exponential", "uniform")
    names = ["wide_deep", *(f"wide_deep_{scheme}" for scheme in schemes)]
    peer = "torch AveragedModel"
    peers = {"torch": (peer, "wide_deep"), peer: (peer, "wide_deep_averaged")}
    times = timed({**_ours(*names), **peers}, settings, steps=10)
    taken = times.seconds
    for scheme, name in zip(schemes, names[1:]):
        yield _at_most(f"wide & deep with {scheme}", taken[name], "without", taken["wide_deep"], "≤ 1.05 ×", 1.05)
    yield _faster("wide & deep with exponential", "ms/step", taken[names[1]], peer, times)
    if peer in taken and "torch" in taken:
        ours, theirs = taken[names[1]] - taken[names[0]], taken[peer] - taken["torch"]
        yield Row("exponential behind wide & deep", "ms more", 1e3 * ours, peer, 1e3 * theirs, theirs / ours)


def timed(asked: dict[str, tuple[str, str]], settings: Settings, steps: int = 1) -> Times:
    """asked: runtime and workload by name; the runtimes alternate. Raises WorkerError if ours fails."""
    workers: dict[str, Worker] = {}
    absent: dict[str, str] = {}
    try:
        for name, (runtime, workload) in asked.items():
            try:
                workers[name] = start(runtime, _command(runtime), workload, settings)
                # The first update may differ from later ones; our averages have short blocks until the 64th.
                workers[name].result(66 if runtime == "ours" else 2)
            except (NotInstalled, WorkerError) as error:
                if runtime in ("ours", "stream"):
                    raise
                absent[name] = str(error)
                if name in workers:
                    workers.pop(name).close()
        measures = {name: lambda worker=worker: worker.seconds(steps) for name, worker in workers.items()}
        return Times(in_turn(measures, settings.rounds), absent)
    finally:
        for worker in workers.values():
            worker.close()


def _command(runtime: str) -> list[str]:
    if runtime == "stream":
        return compiled(HERE / "stream.c")
    return [sys.executable, str(HERE / "ours_averaging.py")] if runtime == "ours" else command_of(runtime)


def _ours(*workload_names: str) -> dict[str, tuple[str, str]]:
    return {name: ("ours", name) for name in workload_names}


def _bound(figure: str, seconds: float, times: Times, moved: float, wanted: str = "", bar: float | None = None) -> Row:
    return _at_most(figure, seconds, f"{moved} bytes at STREAM update", times.of_bytes(moved), wanted, bar)


def _at_most(
    figure: str, seconds: float, peer: str, theirs: float, wanted: str = "", bar: float | None = None, note: str = ""
) -> Row:
    ratio = seconds / theirs
    met = None if bar is None else ratio <= bar
    return Row(figure, "ms", 1e3 * seconds, peer, 1e3 * theirs, ratio, wanted, met, note)


def _faster(figure: str, unit: str, seconds: float, peer: str, times: Times) -> Row:
    if peer in times.absent:
        return Row(figure, unit, 1e3 * seconds, peer, bar="≥ 1 ×", note=f"not measured: {times.absent[peer]}")
    ratio = times.seconds[peer] / seconds
    return Row(figure, unit, 1e3 * seconds, peer, 1e3 * times.seconds[peer], ratio, "≥ 1 ×", ratio >= 1)
