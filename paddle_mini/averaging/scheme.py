# Scheme: the base class of the schemes of averaging.
from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any

import numpy as np

from .profiles import cumulative_of


class Scheme(ABC):
    """Base class of averaging schemes.

    Example:
        >>> isinstance(pm.averaging.Uniform(), pm.averaging.Scheme)
        True
    """

    start = 0
    """Initial steps that this scheme skips, for any start_step of ParameterAverage."""
    own_every: int | None = None
    """Steps from one update to the next, if the scheme and not ParameterAverage sets them."""
    generations = 1
    """Number of averages in the state: 2 for a window."""
    compensated = False
    """Whether the average is one variable with its compensation for rounding, and not in blocks."""
    plain = False
    """Whether the average is one variable without a block: the scheme is defined by its rounded value."""
    latest: int | None = None
    """Number of stored parameters, for schemes that store them."""
    is_mean = True
    """Whether it is a mean of parameters and nothing else."""
    lazy = True
    """Whether rows of a table that did not change need no work."""

    def __eq__(self, other: object) -> bool:
        """Here, and not made by dataclass for each scheme, which would take a tenth of import paddle_mini."""
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        """The constructor call, without default arguments."""
        given = [(one, getattr(self, one.name)) for one in fields(self) if one.init]  # type: ignore[arg-type]
        texts = [
            repr(value) if number == 0 else f"{one.name}={value!r}"
            for number, (one, value) in enumerate(given)
            if value != one.default and not (one.name == "decay" and getattr(self, "half_life", None) is not None)
        ]
        return f"{type(self).__name__}({', '.join(texts)})"

    @abstractmethod
    def attrs(self, every: int) -> dict[str, Any]:
        """Attributes of average_weight when every `every`-th step is averaged."""

    def cumulative(self, updates: np.ndarray, total: int, every: int) -> np.ndarray:
        """For averaging.synthesize: the share of the first `updates` (1 to total - 1) in an average of `total`."""
        return cumulative_of(self, updates, total, every)

    def every_of(self, every: int) -> int:
        """Steps from one update to the next: the scheme's, or else those of ParameterAverage."""
        return every if self.own_every is None else self.own_every
