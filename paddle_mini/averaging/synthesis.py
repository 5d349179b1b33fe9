# Synthesis: averages chosen after training, made from checkpoints; first a plan, then the files.
"""The weights of the checkpoints are found from their steps and profiles alone: those with which the sum of the
checkpoints' profiles comes nearest to the target's (Karras et al. 2024, section 3.2). Near means: in what it does to
the updates. With f(s) the share of the steps up to s, an average is the last parameters less f(s) times the update
after step s, for all s; so sum (f_target - f_sum)^2 is the squared distance between the averages of parameters that
move like a random walk. Karras et al. compare f(s) - f(s - 1) instead, as if the parameters of different steps had
nothing in common. That serves averages, but lets parameters of single steps stand for no step besides their own;
measured on parameters that descend and fluctuate, the weights found here were as good or better for both kinds.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._core import ProgramError
from ..dtypes import dtype_name
from ..errors import shown
from ..program import Program
from .profiles import is_scheme, share
from .weighted_sum import EPSILON, Source, WeightedSum, check_rounding

# Up to here every step is a sample; beyond, steps far from every checkpoint are grouped.
EVERY_STEP = 1 << 16
# ... by this fraction of their distance from the next checkpoint.
GRAIN = 256
ROWS = 4096
# Weights below this are rounding.
SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The location and the profile of stored parameters.

    step: the optimizer's steps before they were written, at least 1. source: a path (.pdparams, .safetensors, or
    .pdiparams with its program), or a dict of arrays by name. average: None: the parameters as they were after that
    step; or the scheme of the average that the file holds, with ParameterAverage's every and start_step. program: that
    of a .pdiparams file; None: the .pdmodel file beside it.
    Example:
        >>> pm.averaging.Checkpoint(step=1000, source={"w": np.ones(2, "float32")}, average=pm.averaging.Uniform()).label()
        'arrays of step 1000'
    """

    step: int
    source: Source = field(repr=False)
    average: Any | None = None
    every: int = 1
    start_step: int = 0
    program: Program | None = None

    def __post_init__(self) -> None:
        for name, low in (("step", 1), ("every", 1), ("start_step", 0)):
            _check_whole(f"Checkpoint: {name}", getattr(self, name), low)
        if not isinstance(self.source, (str, os.PathLike, Mapping)):
            raise ProgramError(f"Checkpoint: the source is a path or a dict of arrays, not {type(self.source).__name__}")
        if self.average is not None and not is_scheme(self.average):
            raise ProgramError(f"Checkpoint: average is {shown(self.average)}, it must be a scheme such as Uniform(), or None")
        if self.program is not None and not isinstance(self.program, Program):
            raise ProgramError(f"Checkpoint: program is {type(self.program).__name__}, it must be a Program")

    def profile(self, steps: np.ndarray) -> np.ndarray:
        """The share of the parameters up to each of these steps in the stored ones, 0 to 1."""
        return share(self.average, self.step, steps, self.every, self.start_step)

    def label(self) -> str:
        """The name of the source in messages."""
        return f"arrays of step {self.step}" if isinstance(self.source, Mapping) else os.fspath(self.source)


@dataclass(frozen=True, eq=False)
class Plan:
    """How a target is made from checkpoints; print it, then call state(). No file has been read yet.

    weights: one for each checkpoint, sum 1; 0 for those after `step`, which are not read. error: the predicted distance
    between the result and the true average, as a share of the distance between that average and the parameters of
    `step`, when parameters move like a random walk. noise: the same distance when the parameters of all steps are
    independent around one point, as a share of the true average's distance from that point (the relative profile error
    of Karras et al. 2024). Training lies between the two: it moves, and it shakes. amplification: the sum of the
    weights' absolute values, by which the rounding of the files is multiplied at most.
    tolerance: as of synthesize.
    Example:
        >>> stored = [pm.averaging.Checkpoint(step, {"w": np.full(2, step, "float32")}) for step in (100, 200)]
        >>> plan = pm.averaging.synthesize(stored, pm.averaging.Tail(100))
        >>> plan.step, round(sum(plan.weights), 6)
        (200, 1.0)
        >>> plan.state()["w"].shape
        (2,)
    """

    checkpoints: tuple[Checkpoint, ...]
    target: Any
    step: int
    weights: tuple[float, ...]
    error: float
    noise: float
    amplification: float
    tolerance: float

    def state(self, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """Reads each file of non-zero weight once, one at a time, and returns the arrays by name, in the files' dtypes.

        Computed in float64: memory is that of the result in float64 and of one file. Arrays that are not floats are
        copied from the newest file. names: only these variables; None: all. ProgramError or ShapeError, with the file's
        name, when files differ in names, dtypes or shapes, hold values that are not finite, or have a dtype that is too
        coarse for this plan. Statistics of batch normalization are summed as all floats are; estimate them again.
        """
        if isinstance(names, str):
            raise ProgramError("state: names is a list of names")
        used = [(weight, checkpoint) for weight, checkpoint in zip(self.weights, self.checkpoints) if weight]
        used.sort(key=lambda item: item[1].step)
        total = WeightedSum(self.amplification, self.tolerance, names)
        for position, (weight, checkpoint) in enumerate(used):
            newest = position == len(used) - 1
            total.add(checkpoint.source, checkpoint.program, checkpoint.label(), weight, newest)
        return total.result()

    def __str__(self) -> str:
        read = sum(map(bool, self.weights))
        lines = [
            f"{self.target} after step {self.step}, from {read} of {len(self.weights)} checkpoints",
            f"{'step':>10} {'weight':>13}  checkpoint",
        ]
        for weight, checkpoint in zip(self.weights, self.checkpoints):
            what = "" if checkpoint.average is None else f", {checkpoint.average}"
            lines.append(f"{checkpoint.step:>10} {weight:>+13.6g}  {checkpoint.label()}{what}")
        return "\n".join(
            lines + [f"predicted error {self.error:.2g}, noise {self.noise:.2g}, amplification {self.amplification:.3g}"]
        )


def synthesize(
    checkpoints: Sequence[Checkpoint],
    target: Any,
    step: int | None = None,
    dtype: str = "float32",
    tolerance: float = 1e-2,
    max_error: float | None = None,
) -> Plan:
    """How to make the average `target` as it would be after `step` from checkpoints, before any of them is read.

    target: a scheme, such as Uniform() or Exponential(0.999), or LearningRateDecay(start). step: None: the newest
    checkpoint's; checkpoints after it are left out. dtype: the coarsest one of the files. ProgramError when
    the rounding of dtype times the plan's amplification is above `tolerance`, when plan.error is above `max_error`,
    when two checkpoints are the same, and when nothing is known up to `step`.
    Example:
        >>> stored = [pm.averaging.Checkpoint(step, {"w": np.full(2, step, "float32")}) for step in (100, 200, 300)]
        >>> plan = pm.averaging.synthesize(stored, pm.averaging.Exponential(half_life=50))
        >>> plan.state()["w"].dtype, plan.error < 1
        (dtype('float32'), True)
    """
    given = _checked(checkpoints, target)
    newest = max(checkpoint.step for checkpoint in given)
    step = newest if step is None else step
    _check_whole("step", step, 1)
    if step > newest:
        raise ProgramError(f"the target is after step {step}, the newest checkpoint is of step {newest}")
    if getattr(target, "start", 0) >= step:
        raise ProgramError(f"{target} begins at step {target.start}, it is to be made after step {step}")
    dtype = dtype_name(dtype)
    if dtype not in EPSILON:
        raise ProgramError(f"dtype is {shown(dtype)}; files hold {', '.join(EPSILON)}")
    for name, limit in (("tolerance", tolerance), ("max_error", max_error)):
        optional = limit is None and name == "max_error"
        if not optional and (isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit >= 0):
            raise ProgramError(f"{name} is {shown(limit)}, it must be a number, at least 0")
    used = [checkpoint for checkpoint in given if checkpoint.step <= step]
    if not used:
        raise ProgramError(f"no checkpoint is of step {step} or before")
    steps = _steps(step, used, target)
    shares = _solve(steps, used, target, step)
    error, noise = _errors(steps, used, shares, target, step)
    found = iter(shares)
    weights = tuple(float(next(found)) if checkpoint.step <= step else 0.0 for checkpoint in given)
    amplification = float(np.abs(shares).sum())
    plan = Plan(given, target, step, weights, error, noise, amplification, float(tolerance))
    check_rounding(dtype, amplification, tolerance, f"{target} after step {step}: ")
    if max_error is not None and not error <= max_error:
        raise ProgramError(
            f"{target} after step {step}: the predicted error is {error:.2g}, above {max_error:.2g}; "
            "take more checkpoints, or averages with profiles near the target"
        )
    return plan


def _checked(checkpoints: Any, target: Any) -> tuple[Checkpoint, ...]:
    if not isinstance(checkpoints, (list, tuple)) or not checkpoints:
        raise ProgramError("synthesize takes a list of Checkpoint(step, source), at least one")
    seen: dict[Any, int] = {}
    for number, checkpoint in enumerate(checkpoints):
        if not isinstance(checkpoint, Checkpoint):
            raise ProgramError(f"checkpoint {number} is {type(checkpoint).__name__}, it must be a Checkpoint(step, source)")
        what = (checkpoint.step, repr(checkpoint.average), checkpoint.every, checkpoint.start_step)
        if what in seen:
            raise ProgramError(
                f"checkpoints {seen[what]} ('{checkpoints[seen[what]].label()}') and {number} "
                f"('{checkpoint.label()}') are the same average of step {checkpoint.step}; give one"
            )
        seen[what] = number
    if not is_scheme(target):
        raise ProgramError(f"the target is {shown(target)}, it must be a scheme such as Uniform(), or LearningRateDecay(start)")
    return tuple(checkpoints)


def _check_whole(name: str, number: Any, low: int) -> None:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not low <= number < 2**53:
        raise ProgramError(f"{name} is {shown(number)}, it must be an integer, at least {low}")


def _steps(last: int, used: list[Checkpoint], target: Any) -> np.ndarray:
    """0 to `last`: all steps, or those at which profiles bend and, before each, ever fewer with the distance.

    Between two of them f is taken as a line. Profiles change over no less than their distance d from such
    a point, or from 0, so steps d / GRAIN apart leave an error of about 1 / (8 GRAIN^2), 2e-6, of f.
    """
    if last <= EVERY_STEP:
        return np.arange(last + 1)
    ages = [0]
    while ages[-1] < last:
        ages.append(ages[-1] + 1 + ages[-1] // GRAIN)
    ends = {last} | {checkpoint.step for checkpoint in used}
    starts = {checkpoint.start_step for checkpoint in used} | {getattr(target, "start", 0)}
    points = [np.array([0, last])]
    points += [end - np.array(ages) for end in ends | starts]
    points += [start + np.array(ages) for start in starts]
    steps = np.unique(np.concatenate(points))
    return steps[(steps >= 0) & (steps <= last)]


def _measure(steps: np.ndarray) -> np.ndarray:
    """How many steps each one stands for, so that sum f(step) is exact where f is a line between them."""
    gaps = np.diff(steps)
    return np.append((gaps + 1) / 2, 0) + np.append(0, (gaps - 1) / 2)


def _solve(steps: np.ndarray, used: list[Checkpoint], target: Any, last: int) -> np.ndarray:
    """Weights of sum 1 that minimize sum (f_target - f_sum)^2: least squares of the differences to one checkpoint's
    f."""
    factor = np.zeros((1, len(used)))
    for part, size in _blocks(steps):
        columns = [checkpoint.profile(part) for checkpoint in used[:-1]] + [share(target, last, part)]
        rows = (np.stack(columns, 1) - used[-1].profile(part)[:, None]) * np.sqrt(size)[:, None]
        # QR, not a Gram matrix: its condition would be the square.
        factor = np.linalg.qr(np.concatenate([factor, rows]), mode="r")  # type: ignore[assignment]
    others = np.linalg.lstsq(factor[:, :-1], factor[:, -1], rcond=None)[0]
    shares = np.append(others, 1 - math.fsum(others))
    shares[np.abs(shares) < SMALLEST * np.abs(shares).max()] = 0
    return np.asarray(shares / math.fsum(shares))


def _errors(steps: np.ndarray, used: list[Checkpoint], shares: np.ndarray, target: Any, last: int) -> tuple[float, float]:
    """Plan.error and Plan.noise."""
    wanted = share(target, last, steps)
    rest = wanted - sum(weight * checkpoint.profile(steps) for weight, checkpoint in zip(shares, used) if weight)
    size = _measure(steps) * (steps < last)
    gaps = np.diff(steps)
    error, signal = (math.sqrt(np.sum(size * values**2)) for values in (rest, wanted))
    noise, own = (math.sqrt(np.sum(np.diff(values) ** 2 / gaps)) for values in (rest, wanted))
    # If the target is the last parameters, the distance is 0: the error is then in updates.
    return error / (signal or 1.0), noise / own


def _blocks(steps: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    size = _measure(steps) * (steps < steps[-1])
    for first in range(0, len(steps), ROWS):
        yield steps[first : first + ROWS], size[first : first + ROWS]
