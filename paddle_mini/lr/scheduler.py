# LRScheduler: base class of learning-rate schedules, which step() advances.
from __future__ import annotations

import itertools
import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from .. import errors
from .._core import ProgramError, printable
from ..errors import shown
from ..renamed import answers_names


@answers_names
class LRScheduler(ABC):
    """A learning rate that changes when step() is called: once a batch, or once an epoch, as you like.

    Given to an optimizer as learning_rate, it is in the program only as a persistable variable, which
    the Executor writes before each run. Program.clone() shares it; bytes do not hold it: keep
    state_dict() beside them. The names, and the sequences, are those of paddle.optimizer.lr in
    PaddlePaddle 2.6.2; t in the formulas is `last_epoch`, the number of steps taken.

    learning_rate: the rate that the formula begins from (`base_lr`). last_epoch: one less than t.
    A schedule of your own derives from this and has get_lr().
    Example:
        >>> class Halved(pm.lr.LRScheduler):
        ...     def get_lr(self):
        ...         return self.base_lr / 2**self.last_epoch
        >>> rate = Halved(0.8)
        >>> rate.step()
        >>> rate(), rate.state_dict()["last_epoch"]
        (0.4, 1)
        >>> optimizer = pm.optimizer.SGD(rate)
    """

    state_keys: tuple[str, ...] = ("last_epoch", "last_lr")
    """Names of further attributes in state_dict."""

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1):
        self.base_lr = number(self, "learning_rate", learning_rate, low=0.0)
        self.last_epoch = whole(self, "last_epoch", last_epoch, low=-1)
        self.last_lr = self.base_lr
        self.step()

    @abstractmethod
    def get_lr(self) -> float:
        """The rate after `last_epoch` steps."""

    def __call__(self) -> float:
        """The current rate, which the Executor writes."""
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Advances by one step, or to step `epoch`."""
        before = self.last_epoch
        self.last_epoch = before + 1 if epoch is None else whole(self, "epoch", epoch, low=0)
        try:
            self.last_lr = number(self, "get_lr()", self.get_lr())
        except BaseException:  # from a function of the user, or Ctrl-C: the step was not taken
            self.last_epoch = before
            raise

    @property
    def shift(self) -> int:
        """The offset from the number of an update, from 1, to its t, if each update takes one step from now on."""
        return self.last_epoch - 1

    def config_values(self) -> dict[str, Any]:
        """The fields of OptimizerConfig (proto/optimizer.proto) of a policy that gives these rates, up to rounding;
        ProgramError where none does."""
        raise ProgramError(
            f"{type(self).__name__}: no policy of the C library has these rates; give it each one with set_learning_rate"
        )

    def state_dict(self) -> dict[str, Any]:
        """The state for set_state_dict: plain numbers."""
        return {key: getattr(self, key) for key in self.state_keys}

    def set_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores a result of state_dict(); ProgramError, and nothing is changed, if it belongs to another kind of schedule."""
        self.take(self.values_of(state))

    def values_of(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The values of this schedule's attributes in a state; ProgramError as for set_state_dict()."""
        if not isinstance(state, Mapping):
            raise ProgramError(f"{_named(self)}: the state is {shown(state)}, it must be a dict from state_dict()")
        missing = [key for key in self.state_keys if key not in state]
        if missing:
            raise ProgramError(
                f"{_named(self)}: the state has no '{printable(missing[0])}'; it has {', '.join(map(str, state)) or 'nothing'}"
            )
        return {key: self._restored(key, state[key]) for key in self.state_keys}

    def take(self, values: Mapping[str, Any]) -> None:
        """Sets attributes to a result of values_of()."""
        for key, value in values.items():
            setattr(self, key, value)

    def _restored(self, key: str, value: Any) -> Any:
        """The value of an attribute that is in a state; ProgramError if it can't have been there."""
        if key == "last_lr":
            return number(self, f"'{key}' of the state", value)
        return whole(self, f"'{key}' of the state", value, low=-1) if type(getattr(self, key)) is int else value


def number(owner: Any, what: str, value: Any, low: float = -math.inf, above: float = -math.inf) -> float:
    """The value as a float; ProgramError if it is not a finite number, below `low`, or not above `above`."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if real and math.isfinite(value) and value >= low and value > above:
        return float(value)
    limits = f", at least {low:g}" * (low > -math.inf) + f", above {above:g}" * (above > -math.inf)
    raise ProgramError(f"{_named(owner)}: {what} is {shown(value)}, it must be a finite number{limits}")


def whole(owner: Any, what: str, value: Any, low: int = 1) -> int:
    """The value as an int; ProgramError unless it is an integer of at least `low`."""
    return errors.whole(f"{_named(owner)}: {what}", value, low)


def rising(owner: Any, what: str, values: Sequence[int]) -> list[int]:
    """The values as ints; ProgramError if they are not a list of ascending integers."""
    if not isinstance(values, (list, tuple)):
        raise ProgramError(f"{_named(owner)}: {what} is {shown(values)}, it must be a list of integers")
    steps = [whole(owner, what, value, low=0) for value in values]
    if any(after <= before for before, after in itertools.pairwise(steps)):
        raise ProgramError(f"{_named(owner)}: {what} is {shown(values)}, it must rise")
    return steps


def one_of(owner: Any, what: str, value: Any, choices: Sequence[str]) -> str:
    """The value; ProgramError if it is not one of the choices."""
    if value not in choices:
        raise ProgramError(f"{_named(owner)}: {what} is {shown(value)}, it must be one of {', '.join(choices)}")
    return str(value)


def callable_of(owner: Any, what: str, value: Any) -> Any:
    """The value; ProgramError when it cannot be called."""
    if not callable(value):
        raise ProgramError(f"{_named(owner)}: {what} is {shown(value)}, it must be a function of the step")
    return value


def _named(owner: Any) -> str:
    return owner if isinstance(owner, str) else type(owner).__name__


def policy(name: str, field: str, rate: float, a: float, b: float) -> dict[str, Any]:
    """The fields of OptimizerConfig of a policy with two numbers."""
    return {"lr_policy": name, field: {"learning_rate": rate, "lr_decay_a": a, "lr_decay_b": b}}


def segments(boundaries: Sequence[int], rates: Sequence[float], shift: int) -> dict[str, Any]:
    """The policy with rates[i] while t < boundaries[i], the last rate from there on."""
    bounds = [boundary - shift - 1 for boundary in boundaries]  # the last update before it
    pairs = [(bound, rate) for bound, rate in zip(bounds, rates) if bound > 0]
    pairs.append((max(bounds, default=0) + 1, rates[-1]))
    return {"lr_policy": "Manual", "manual_lr": {"segments": [{"bound": bound, "rate": rate} for bound, rate in pairs]}}


def inverse_power(owner: Any, rate: float, slope: float, power: float, shift: int) -> dict[str, Any]:
    """The policy with rate / (1 + slope t)^power."""
    begin = 1.0 + slope * shift
    if begin <= 0:
        raise ProgramError(
            f"{_named(owner)}: the C library counts updates from 1, where a rate that falls by 1 / (1 + "
            f"{slope:g} t) from t = 0 has no formula; begin with t = 1"
        )
    return policy("Poly", "poly_lr", rate * begin**-power, slope / begin, power)
