# Profiles of averages: how much of an average lies in which steps, from its scheme alone.
"""Every average here is a sum of the parameters after steps 1, 2, … with weights that add up to 1. It is described by
its running sum: the share of the steps up to s. For a <- a + w_t (p - a) that is the product of 1 - w_j over the later
steps j > s, which has a closed form for every scheme, exact to rounding for single steps as for any number of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import ProgramError
from ..errors import shown

Shape = str | Callable[[np.ndarray], np.ndarray]

SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda x: 1 - x,
    "cosine": lambda x: (1 + np.cos(np.pi * x)) / 2,
    "sqrt": lambda x: 1 - np.sqrt(x),
}


@dataclass(frozen=True)
class LearningRateDecay:
    """The parameters that training would end with had the learning rate fallen after step `start`.

    Parameters are sums of updates; scaling update j by a falling factor f_j is the same as averaging the parameters
    with the weights f_j - f_(j+1) (Tian et al. 2025, "WSM"), up to what the smaller steps would have changed in the
    gradients. shape: the factor over the share, 0 to 1, of the steps from `start` to the end that are done: "linear"
    (which is the uniform mean after `start`), "cosine", "sqrt" (1 - sqrt), or a function on an array that falls within
    0..1.
    Example:
        >>> stored = [pm.averaging.Checkpoint(step, {"w": np.full(2, step, "float32")}) for step in (800, 900, 1000)]
        >>> plan = pm.averaging.synthesize(stored, pm.averaging.LearningRateDecay(start=800))
        >>> [round(weight, 3) for weight in plan.weights]
        [0.248, 0.5, 0.252]
    """

    start: int
    shape: Shape = "linear"

    def __post_init__(self) -> None:
        if isinstance(self.start, bool) or not isinstance(self.start, int) or self.start < 0:
            raise ProgramError(f"LearningRateDecay({shown(self.start)}): the start is a step, at least 0")
        if not callable(self.shape) and self.shape not in SHAPES:
            raise ProgramError(f"the shape is {shown(self.shape)}; there are {', '.join(SHAPES)}, and functions")

    def cumulative(self, updates: np.ndarray, total: int, every: int) -> np.ndarray:
        """1 - f of the next update; see `share`."""
        start = self.start // every
        done = np.clip((updates - start) / max(1, total - start), 0, 1)
        factor = np.asarray((self.shape if callable(self.shape) else SHAPES[self.shape])(done), np.float64)
        if factor.shape != done.shape or not ((factor >= 0) & (factor <= 1)).all() or (np.diff(factor) > 1e-12).any():
            raise ProgramError("the shape of a decay takes an array of 0..1 and returns one that falls within 0..1")
        return np.where(updates < start, 0.0, 1 - factor)


def share(scheme: Any | None, at: int, steps: np.ndarray, every: int = 1, start_step: int = 0) -> np.ndarray:
    """How much of the average after step `at` the steps up to each of `steps` (int64, rising) have, float64.

    scheme: None: the parameters of step `at` themselves; else one of paddle_mini.averaging, or a LearningRateDecay.
    every and start_step are those of ParameterAverage.
    """
    if scheme is not None and not isinstance(scheme, LearningRateDecay):
        every, start_step = scheme.every_of(every), max(start_step, scheme.start)
    total = max(0, at - start_step) // every
    if scheme is None or total == 0:  # nothing is averaged yet: ParameterAverage leaves the raw values
        return (steps >= at).astype(np.float64)
    updates = np.clip((steps - start_step) // every, 0, total)
    inner = np.clip(updates, 1, max(1, total - 1))
    found = scheme.cumulative(inner, total, every)
    return np.where(updates == 0, 0.0, np.where(updates == total, 1.0, found))


def is_scheme(scheme: Any) -> bool:
    """Whether `share` knows its profile: all schemes but BiasCorrected, which adds a term that is not an average."""
    return isinstance(scheme, LearningRateDecay) or (getattr(scheme, "is_mean", False) and not isinstance(scheme, type))


def gamma_of(relative_width: float) -> float:
    """The exponent of the power profile whose standard deviation is this share of the run (Karras et al. 2024):
    the root of (g + 1) / ((g + 2)^2 (g + 3)) = width^2, which has one for widths of more than 0 and at most 12^-1/2."""
    roots = np.roots([1.0, 7.0, 16 - relative_width**-2, 12 - relative_width**-2])
    return float(max(root.real for root in roots if abs(root.imag) < 1e-9 * abs(root)))


def cumulative_of(scheme: Any, updates: np.ndarray, total: int, every: int) -> np.ndarray:
    """The share of the first `updates` (1 to total - 1) of `total`, from the attributes of operator average_weight."""
    attrs = scheme.attrs(every)
    if scheme.latest is not None:
        return _newest(updates, total, min(scheme.latest, total))
    if attrs["scheme"] not in _RULES:
        raise ProgramError(f"{scheme} has no profile: paddle_mini/averaging/profiles.py does not have rule {attrs['scheme']!r}")
    return _RULES[attrs["scheme"]](attrs, updates, total, every)


def _power(attrs: dict[str, Any], updates: np.ndarray, total: int, every: int) -> np.ndarray:
    return (updates / total) ** (attrs.get("exponent", 0.0) + 1)  # uniform is the case 0


def _polynomial(attrs: dict[str, Any], updates: np.ndarray, total: int, every: int) -> np.ndarray:
    # w_t = (e + 1) / (t + e) (Shamir and Zhang 2013): Gamma(n + e + 1) / Gamma(n), over that of the last update
    log = np.frompyfunc(lambda n: math.lgamma(n + attrs["exponent"] + 1) - math.lgamma(n), 1, 1)
    return np.exp(log(updates).astype(np.float64) - log(total))


def _exponential(attrs: dict[str, Any], updates: np.ndarray, total: int, every: int) -> np.ndarray:
    if attrs["decay"] == 0:
        return np.zeros(len(updates))
    if attrs["warmup"] == "none":
        log = math.log(attrs["decay"]) * every
        kept, whole = updates * log, total * log
    else:  # the decays differ: their logarithms are added up
        step = np.arange(1, total + 1, dtype=np.float64) * every
        bound = (
            (1 + step) / (10 + step)
            if attrs["warmup"] == "ratio"
            else 1 - (1 + step / attrs["warmup_length"]) ** -attrs["warmup_power"]
        )
        logs = np.cumsum(np.log(np.minimum(attrs["decay"], bound)) * every)
        kept, whole = logs[updates - 1], float(logs[-1])
    later = np.exp(whole - kept)
    return later * np.expm1(kept) / math.expm1(whole) if attrs["bias_correction"] else later


def _newest(updates: np.ndarray, total: int, count: int) -> np.ndarray:
    """The uniform mean of the newest `count`."""
    return np.clip((updates - total + count) / count, 0, 1)


def _window(attrs: dict[str, Any], updates: np.ndarray, total: int, every: int) -> np.ndarray:
    return _newest(updates, total, total - _begin_of_window(attrs, total))


def _begin_of_window(attrs: dict[str, Any], total: int) -> int:
    """Updates before the two generations that are there after `total`."""
    least, most, rate = attrs["window_min"], attrs["window_max"], attrs.get("window_rate", 1.0)
    before = begin = 0  # the first updates of the previous generation and of this one
    while True:
        # The first n updates from `begin` on with n >= least and n >= min(most, rate (begin + n)).
        size = max(least, math.ceil(min(most, rate * begin / (1 - rate) if rate < 1 else most) - 1e-9))
        if begin + size > total:
            return before
        before, begin = begin, begin + size


# By the attribute `scheme` of operator average_weight: all rules that make a mean of a Scheme.
_RULES: dict[str, Callable[[dict[str, Any], np.ndarray, int, int], np.ndarray]] = {
    "uniform": _power,
    "power": _power,
    "polynomial": _polynomial,
    "exponential": _exponential,
    "window": _window,
}
