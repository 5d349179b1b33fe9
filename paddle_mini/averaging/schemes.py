# Averages of parameters: the schemes, each a small value.
"""A scheme defines the weight of the newest parameters in their average, step by step (operator `average_weight`); the
averaging itself (`parameter_average`) is the same for all. See optimizer.ParameterAverage, which puts both into a
program. Where a length is asked for, a number means steps; averaging.steps, samples, epochs and fraction make others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .._core import ProgramError
from ..errors import shown
from .lengths import Length, Lengthy, is_number, steps_of, whole_steps
from .profiles import gamma_of
from .scheme import Scheme


@dataclass(frozen=True, repr=False, eq=False)
class Window(Scheme):
    """The mean of the newest parameters: of at least `size` and fewer than 2 `size` steps.

    Two generations are kept. When the current one is complete it becomes the previous one, so every number averaged is
    as small as the parameters themselves and none is lost against a large sum. Costs three floats a parameter.

    size: steps of a generation. Or PaddlePaddle's rule (ModelAverage): a generation of n is complete when n >= min_size
    and n >= min(max_size, rate * steps so far); rate 0.15 keeps the newest 15 % to 30 % of a run, within these limits.
    Example:
        >>> average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Window(1000))
    """

    size: Lengthy | None = None
    rate: float | None = None
    min_size: Lengthy = 10000
    max_size: Lengthy = 10000
    generations = 2

    def __post_init__(self) -> None:
        if (self.size is None) == (self.rate is None):
            raise ProgramError("Window takes either a size, as in Window(1000), or a rate, as in Window(rate=0.15)")
        if self.size is not None:
            whole_steps("Window(size)", self.size)
            return
        if not is_number(self.rate) or not 0 < self.rate <= 1:
            raise ProgramError(f"Window(rate={shown(self.rate)}): the rate is a part of all steps, above 0 and at most 1")
        minimum, maximum = whole_steps("Window(min_size)", self.min_size), whole_steps("Window(max_size)", self.max_size)
        if minimum > maximum:
            raise ProgramError(f"Window(min_size={minimum}, max_size={maximum}): min_size is larger than max_size")

    def attrs(self, every: int) -> dict[str, Any]:
        if self.size is not None:
            updates = max(1, round(whole_steps("Window(size)", self.size) / every))
            return {"scheme": "window", "window_min": updates, "window_max": updates}
        minimum, maximum = (max(1, round(whole_steps("Window", size) / every)) for size in (self.min_size, self.max_size))
        return {"scheme": "window", "window_rate": float(self.rate or 0), "window_min": minimum, "window_max": maximum}


@dataclass(frozen=True, repr=False, eq=False)
class Uniform(Scheme):
    """The mean over all steps (Ruppert 1988; Polyak and Juditsky 1992). Two floats a parameter.

    compensated: the average is one variable at any time, beside what rounding added to it; as exact, and costs twice the
    memory traffic (docs/averaging.md).
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(0.0))
        >>> average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(1.0), pm.averaging.Uniform())
        >>> ops, gradients = average.minimize(-1.0 * w)  # w becomes 1, 2, 3
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> for step in range(3):
        ...     _ = exe.run()
        >>> with average.apply(exe):
        ...     print(pm.global_scope().get(w.name))
        [2.]
    """

    compensated: bool = False

    def attrs(self, every: int) -> dict[str, Any]:
        return {"scheme": "uniform"}


@dataclass(frozen=True, repr=False, eq=False)
class Tail(Scheme):
    """The mean over all steps after the first `start` ones (suffix averaging). Two floats a parameter.

    Example:
        >>> average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Tail(start=1000))
    """

    start: Lengthy = 0  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", whole_steps("Tail(start)", self.start, 0))

    def attrs(self, every: int) -> dict[str, Any]:
        return {"scheme": "uniform"}


@dataclass(frozen=True, repr=False, eq=False)
class Latest(Scheme):
    """The mean of the k latest parameters, taken every `every` steps (LAWA, Kaddour 2022). k floats a parameter.

    every: None: that of ParameterAverage; a number overrides that of ParameterAverage.
    Example:
        >>> average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Latest(5, every=200))
    """

    k: int
    every: Lengthy | None = None
    lazy = False

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or not 1 <= self.k < 2**20:
            raise ProgramError(f"Latest({shown(self.k)}): k, the number of kept parameters, must be an integer, at least 1")
        if self.every is not None:
            object.__setattr__(self, "every", whole_steps("Latest(every)", self.every))

    @property
    def latest(self) -> int | None:  # type: ignore[override]
        """k: the number of stored parameters."""
        return self.k

    @property
    def own_every(self) -> int | None:  # type: ignore[override]
        """Its every; None: that of ParameterAverage."""
        return self.every  # type: ignore[return-value]

    def attrs(self, every: int) -> dict[str, Any]:
        return {"scheme": "uniform"}


@dataclass(frozen=True, repr=False, eq=False)
class Polynomial(Scheme):
    """The weight of step s is about s^eta: a tail average without a chosen begin (Shamir and Zhang 2013). Two floats a
    parameter; eta=3 is close to the mean of the last half.

    Example:
        >>> average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Polynomial(eta=3.0))
    """

    eta: float = 3.0

    def __post_init__(self) -> None:
        _at_least("Polynomial", "eta", self.eta, 0)

    def attrs(self, every: int) -> dict[str, Any]:
        return {"scheme": "polynomial", "exponent": float(self.eta)}


@dataclass(frozen=True, repr=False, eq=False)
class Power(Scheme):
    """The weight of step s of t is proportional to (s/t)^gamma: an exponential average whose length grows with the run
    (Karras et al. 2024).

    Give gamma, or relative_width: the standard deviation of the weights as part of the run, such as 0.1. What two of
    these have kept, averaging.synthesize turns into any other. Two floats a parameter.
    Example:
        >>> average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Power(relative_width=0.1))
    """

    gamma: float | None = None
    relative_width: float | None = None

    def __post_init__(self) -> None:
        if (self.gamma is None) == (self.relative_width is None):
            raise ProgramError("Power takes either gamma=6.94 or relative_width=0.1")
        if self.gamma is not None:
            _at_least("Power", "gamma", self.gamma, 0)
        elif not is_number(self.relative_width) or not 0 < self.relative_width <= 12**-0.5:
            raise ProgramError(
                f"Power(relative_width={shown(self.relative_width)}): it is above 0 and at most 0.2886, the uniform average"
            )

    @property
    def exponent(self) -> float:
        """gamma, given or computed from relative_width."""
        return gamma_of(float(self.relative_width or 0)) if self.gamma is None else float(self.gamma)

    def attrs(self, every: int) -> dict[str, Any]:
        return {"scheme": "power", "exponent": max(0.0, self.exponent)}


@dataclass(frozen=True, repr=False, eq=False)
class Exponential(Scheme):
    """The weight of each step is `decay` times that of the next one.

    decay: at least 0 and below 1; or half_life: the age at which a step weighs half as much as the newest one.
    half_life=fraction(0.05) grows with the run. bias_correction: the weights of the steps add up to 1 from the first
    one on (Kingma and Ba 2015, section 3); without it the first step begins the average. warmup="ratio" bounds the
    decay at step t by (1 + t)/(10 + t), as TensorFlow does; warmup=(length, power) by 1 - (1 + t/length)^-power. With
    either the correction divides by the product of the decays that were used. Two floats a parameter.
    compensated: the average is one variable at any time, beside what rounding added to it; as exact, and costs twice the
    memory traffic (docs/averaging.md).
    Example:
        >>> pm.averaging.Exponential(0.999)
        Exponential(0.999)
        >>> pm.averaging.Exponential(half_life=pm.epochs(2, steps_per_epoch=500))
        Exponential(half_life=steps(1000))
    """

    decay: float | None = None
    half_life: Lengthy | None = None
    warmup: Any = None
    bias_correction: bool = True
    compensated: bool = False

    def __post_init__(self) -> None:
        if (self.decay is None) == (self.half_life is None):
            raise ProgramError("Exponential takes either a decay, as in Exponential(0.999), or half_life=1000")
        if self.decay is not None:
            if not is_number(self.decay) or not 0 <= self.decay < 1:
                raise ProgramError(f"Exponential({shown(self.decay)}): the decay is at least 0 and below 1")
        elif isinstance(self.half_life, Length) and self.half_life.part is not None:
            if self.half_life.part > math.log(2) or self.warmup is not None or not self.bias_correction:
                raise ProgramError(
                    "Exponential: a half-life that grows with the run is at most 0.69 of it, and takes "
                    "no warmup and no bias_correction=False; write Power(relative_width=...) instead"
                )
        else:
            object.__setattr__(self, "decay", 2 ** (-1 / steps_of("Exponential(half_life)", self.half_life, 1e-3)))
        self._warmup_attrs()

    def _warmup_attrs(self) -> dict[str, Any]:
        if self.warmup is None or self.warmup == "ratio":
            return {"warmup": self.warmup or "none"}
        try:
            length, power = self.warmup
        except (TypeError, ValueError):
            raise ProgramError(
                f"Exponential(warmup={shown(self.warmup)}): it is None, 'ratio' or (length, power), such as (1, 2/3)"
            ) from None
        steps = steps_of("Exponential(warmup length)", length, 1e-3)
        if not is_number(power) or not 0 < power <= 1:
            raise ProgramError(f"Exponential(warmup={shown(self.warmup)}): the power is above 0 and at most 1")
        return {"warmup": "power", "warmup_length": steps, "warmup_power": float(power)}

    def attrs(self, every: int) -> dict[str, Any]:
        if self.decay is None:  # 1 - 2^(-1/(part t)) falls as the weights of a power profile do
            assert isinstance(self.half_life, Length) and self.half_life.part is not None
            return {"scheme": "power", "exponent": math.log(2) / self.half_life.part - 1}
        return {
            "scheme": "exponential",
            "decay": float(self.decay),
            "bias_correction": bool(self.bias_correction),
            **self._warmup_attrs(),
        }


@dataclass(frozen=True, repr=False, eq=False)
class BiasCorrected(Scheme):
    """An exponential average plus a falling part of what the parameters have moved since the beginning, which makes up
    for its lag (BEMA, Block and Zhang 2025): t steps after the first update the weight is (rho + gamma t)^-kappa, and
    (rho + gamma t)^-eta of the way is added. Best with every=400 or so. Three floats a parameter.

    Example:
        >>> average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.BiasCorrected(), every=400)
    """

    kappa: float = 0.5
    eta: float = 0.2
    rho: float = 10.0
    gamma: float = 1.0
    lazy = False
    is_mean = False

    def __post_init__(self) -> None:
        for name in ("kappa", "eta"):
            value = getattr(self, name)
            if not is_number(value) or not 0 < value <= 1:
                raise ProgramError(f"BiasCorrected({name}={shown(value)}): it is above 0 and at most 1")
        _at_least("BiasCorrected", "rho", self.rho, 1)
        _at_least("BiasCorrected", "gamma", self.gamma, 0)

    def attrs(self, every: int) -> dict[str, Any]:
        return {
            "scheme": "falling",
            "warmup_length": float(self.rho),
            "warmup_rate": float(self.gamma) * every,
            "warmup_power": float(self.kappa),
        }

    def correction(self, every: int) -> dict[str, float]:
        """Attributes of bias_corrected_average: it counts updates, and `every` steps are one."""
        return {"rho": float(self.rho), "gamma": float(self.gamma) * every, "eta": float(self.eta)}


def _at_least(scheme: str, name: str, value: Any, low: float) -> None:
    if not is_number(value) or value < low:
        raise ProgramError(f"{scheme}({name}={shown(value)}): it is a number, at least {low}")
