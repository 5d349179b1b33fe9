# Statistics of a running average: how far it has come, and how far from the parameters it is.
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._core import Scope
from ..feeds import bfloat16_values
from .averaged_parameter import AveragedParameter
from .running import RunningAverage
from .schemes import Exponential, Latest, Window


@dataclass(frozen=True)
class Statistics:
    """steps: steps of the optimizer. updates: those that were averaged. skipped: those left out because a parameter was
    not finite. effective_length: of how many equally weighing updates the average has the noise, 1 / Σ weight².
    mean_age: how many steps ago, weighted, its members were the parameters (of Latest as if none had been skipped).
    distance: |average − parameters| / |parameters|. warming_up: whether the warmup and not the decay that was asked for
    still sets the length."""

    steps: int
    updates: int
    skipped: int
    effective_length: float
    mean_age: float
    distance: float | None
    warming_up: bool


def statistics(average: RunningAverage, scope: Scope, value_of: Callable[[AveragedParameter], np.ndarray]) -> Statistics:
    """value_of: the averaged value of a member."""
    updates, newer, older, steps, skipped = (int(count) for count in scope.get(average.counters.name))
    squares, age, older_age = scope.get(average.state.name)[1:4]
    length = 0.0 if updates == 0 else 1 / squares
    if updates and isinstance(average.scheme, Window) and newer + older:
        length = float(newer + older)
        # Where a generation just ended the newer one is empty.
        age = (newer * age + older * older_age) / (newer + older)
    if updates and isinstance(average.scheme, Latest):
        length = float(min(updates, average.scheme.k))
        since = (steps - average.start_step) % average.every
        age = since + average.every * (length - 1) / 2
    return Statistics(
        steps,
        updates,
        skipped,
        float(length),
        float(age) if updates else 0.0,
        _distance(average, scope, value_of),
        updates > 0 and _warms_up(average, updates),
    )


def _distance(average: RunningAverage, scope: Scope, value_of: Callable[[AveragedParameter], np.ndarray]) -> float | None:
    apart = size = 0.0
    for member in average.members:
        value = bfloat16_values(value_of(member))
        if value.dtype.kind != "f" or not getattr(member.parameter, "trainable", False):
            continue
        raw = bfloat16_values(scope.get(member.parameter.name)).astype("float64")
        apart += float(((value - raw) ** 2).sum())
        size += float((raw**2).sum())
    return (apart / size) ** 0.5 if size else None


def _warms_up(average: RunningAverage, updates: int) -> bool:
    scheme, step = average.scheme, updates * average.every
    if not isinstance(scheme, Exponential) or scheme.warmup is None or scheme.decay is None:
        return False
    if scheme.warmup == "ratio":
        return (1 + step) / (10 + step) < scheme.decay
    attrs = scheme.attrs(1)
    return 1 - (1 + step / attrs["warmup_length"]) ** -attrs["warmup_power"] < scheme.decay
