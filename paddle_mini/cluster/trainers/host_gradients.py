# HostGradients: a trainer's gradients and their mean in the memory of the host, between model and optimizer.
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..._core import Scope
from ...executor import Executor
from ...scope import LoDTensor
from ..errors import Malformed
from ..values import Clique, Gpu, MemberId
from .gradient_memory import GradientMemory
from .peer import Peer
from .split_program import SplitProgram

Feed = Mapping[str, Any] | None


class SplitExecutors(NamedTuple):
    """A split program, and what runs it: exe the model, and optimizing the other half, in a scope."""

    split: SplitProgram
    exe: Executor
    optimizing: Executor
    scope: Scope


class HostGradients:
    """memory: of the gradients and their mean; own: the service from which others read them."""

    def __init__(self, executors: SplitExecutors, memory: GradientMemory, own: Peer):
        self._executors, self.memory, self._own = executors, memory, own

    @property
    def gpu(self) -> Gpu | None:
        """The GPU that could add up the gradients of the next step."""
        return None

    def compute(self, feed: Feed, fetches: list[str], return_numpy: bool) -> tuple[list[Any], str | None]:
        """Runs the model. Returns the values of fetches, and the name of a gradient that is not finite, if one is and the
        program has no loss scaling that handles it."""
        split, exe, _, scope = self._executors
        results = exe.run(split.model, feed, fetches + list(self.memory.gradient.buffer.views), scope, return_numpy)
        self._own.gradient_of = None
        self._write(results[len(fetches) :])
        return results[: len(fetches)], self._not_finite()

    def give_to_host(self) -> bool:
        """The hosts add up: others read the gradient in the memory. Returns whether it has come there only now."""
        return False

    def add_up(self, clique: Clique, me: MemberId, contributors: int, takes_part: bool) -> bool:
        """Computes the mean, as the sum of this clique. False if that fails, which it may for some members only."""
        raise Malformed(f"the coordinator puts trainer {me.number} into a clique, which has no GPU for it")

    def optimize(self, late: list[str], return_numpy: bool) -> list[Any]:
        """Runs the optimizer with the mean; returns the values of `late`."""
        split, _, optimizing, scope = self._executors
        return optimizing.run(split.optimizing, self.memory.mean.buffer.views, late, scope, return_numpy)

    def _write(self, values: list[Any]) -> None:
        """Writes the gradient into the memory."""
        with self.memory.gradient.changing() as gradients:
            for view, value in zip(gradients.views.values(), values):
                array = value.array if isinstance(value, LoDTensor) else value
                np.copyto(view, np.asarray(array).reshape(view.shape))

    def _not_finite(self) -> str | None:
        return None if self._executors.split.scales else next(self.memory.gradient.buffer.not_finite(), None)
