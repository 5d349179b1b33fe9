# Peer: in collective mode, the service of a trainer from which the others read its gradients, means and state.
from __future__ import annotations

from typing import NamedTuple

from ..collective_protocol import GetGradient, GetMean, GetMemory, GetState, Wake
from ..replies import Done, Share, StoredState, TrainerMemory
from ..service import Answering, Later
from ..values import State, StepId
from ..wire import Arrays
from .gradient_memory import GradientMemory, Numbered


class Kept(NamedTuple):
    """A training state for other trainers."""

    key: str
    state: State
    arrays: Arrays


class Peer(Answering):
    """The service "trainer N". It answers in a thread of its own; its trainer sets what follows. gradient_of: the step of the
    gradient that it has; is_in_memory: whether that is in the memory, where it may come later from a GPU. mean_of: the step of
    which this trainer has computed its share of the mean; None while there is none. kept: a state."""

    def __init__(self, job: str, memory: GradientMemory):
        self._memory = memory
        self.gradient_of: StepId | None = None
        self.is_in_memory = True
        self.mean_of: StepId | None = None
        self.kept: Kept | None = None
        super().__init__(
            job,
            {
                GetMemory: lambda request: TrainerMemory(memory.place),
                GetGradient: self._gradient,
                GetMean: self._mean,
                GetState: self._state,
                Wake: lambda request: Done(),
            },
        )

    def tick(self) -> None:
        self.release()

    def progress(self) -> object:
        return self.gradient_of, self.is_in_memory, self.mean_of

    def _gradient(self, request: GetGradient) -> Share | Later:
        if request.step_id != self.gradient_of:
            return Share(missing=True)
        return _share(self._memory.gradient, request) if self.is_in_memory else Later(lambda: self._gradient(request))

    def _mean(self, request: GetMean) -> Share | Later:
        """A trainer that has the gradient of a step, and not its mean, computes it."""
        if request.step_id == self.mean_of:
            return _share(self._memory.mean, request)
        return Later(lambda: self._mean(request)) if request.step_id == self.gradient_of else Share(missing=True)

    def _state(self, request: GetState) -> StoredState:
        kept = self.kept
        return StoredState() if kept is None or request.key != kept.key else StoredState(kept.state, kept.arrays)


def _share(values: Numbered, request: GetGradient) -> Share:
    serial, arrays = values.serial, []
    if request.copies:
        arrays = [one.copy() for one in values.buffer.share(request.share, request.shares)]
    is_intact = serial != 0 and serial == values.serial
    return Share(False, serial, arrays) if is_intact else Share(missing=True)
