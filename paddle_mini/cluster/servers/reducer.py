# Reducer: in collective mode, a server adds up its part of all trainers' gradients, and hands on states.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import WrongShape
from ..job_settings import JobSettings
from ..protocol import Add, GetMean, GetReducerStatus, GetState, PutState
from ..replies import Done, Mean, ReducerStatus, StoredState
from ..service import Answering
from ..values import MemberId, PushCounts, StepId
from ..wire import Arrays

_KEPT = 2
"""Means: a trainer may still ask for that of a step when another one has that of the next."""


class _Contribution(NamedTuple):
    """What a trainer sent last. serial: rises in a trainer's life. arrays: None when a mean was made of them; applied:
    whether one ever was."""

    incarnation: int
    serial: int
    step_id: StepId
    arrays: Arrays | None
    applied: bool


class Reducer(Answering):
    """The service "server N" of a collective job. It decides nothing: the sender of a request for a mean says whose.
    What it had is lost when it dies, and its replies say so."""

    def __init__(self, index: int, settings: JobSettings):
        self.index, self._settings = index, settings
        self._contributions: dict[int, _Contribution] = {}
        self._means: dict[tuple[Any, ...], Arrays] = {}
        self._state: PutState | None = None
        self._sent = self._applied = self._repeated = 0
        super().__init__(
            settings.job,
            {
                Add: self._add,
                GetMean: self._mean,
                PutState: self._put_state,
                GetState: self._get_state,
                GetReducerStatus: self._status,
            },
        )

    def tick(self) -> None:
        """Nothing is due here by itself."""

    def _add(self, request: Add) -> Done:
        """The arrays are used until the mean that they are part of is made; their sender leaves them alone."""
        trainer, step_id, before = request.trainer, request.step_id, self._contributions.get(request.trainer)
        life = request.incarnation, request.serial
        if before is not None and life <= (before.incarnation, before.serial):
            self._repeated += 1
            return Done(repeated=True)
        sizes = _sizes(request.arrays)
        for other in self._contributions.values():
            if other.arrays is not None and _sizes(other.arrays) != sizes:
                raise WrongShape(f"trainer {trainer} sends arrays of {sizes}, others of {_sizes(other.arrays)}")
        # The same gradient once more, as another server had lost its part: it counts as one.
        again = before if before is not None and (before.incarnation, before.step_id) == (request.incarnation, step_id) else None
        self._repeated += again is not None
        self._sent += again is None
        self._contributions[trainer] = _Contribution(*life, step_id, request.arrays, again is not None and again.applied)
        if self._state is not None and self._state.step_id.epoch == step_id.epoch and self._state.step_id.step < step_id.step:
            self._state = None  # the trainer that was to take it has
        return Done()

    def _mean(self, request: GetMean) -> Mean:
        """The sum in the order of the trainers, which gives the same bits whoever came first, over their number."""
        key = (request.step_id, *request.of)
        if key not in self._means:
            parts = self._arrays_of(request.step_id, request.of)
            if parts is None:
                return Mean(missing=True)
            self._means[key] = [_mean_of(arrays) for arrays in zip(*parts)]
            for trainer, _ in request.of:
                self._applied += not self._contributions[trainer].applied
                self._contributions[trainer] = self._contributions[trainer]._replace(arrays=None, applied=True)
            while len(self._means) > _KEPT:
                del self._means[next(iter(self._means))]
        return Mean(missing=False, arrays=self._means[key])

    def _arrays_of(self, step_id: StepId, of: Sequence[MemberId]) -> list[Arrays] | None:
        found = []
        for trainer, incarnation in of:
            one = self._contributions.get(trainer)
            if one is None or (one.incarnation, one.step_id) != (incarnation, step_id) or one.arrays is None:
                return None
            found.append(one.arrays)
        return found

    def _put_state(self, request: PutState) -> Done:
        self._state = request
        return Done()

    def _get_state(self, request: GetState) -> StoredState:
        if self._state is None or request.key != self._state.key:
            return StoredState()
        return StoredState(self._state.state, self._state.arrays)

    def _status(self, request: GetReducerStatus) -> ReducerStatus:
        """sent: gradients that came; those that are no part of a mean, as their trainer died, were dropped."""
        waiting = sum(one.arrays is not None for one in self._contributions.values())
        return ReducerStatus(
            self.index,
            self._settings.mode,
            PushCounts(self._sent, self._applied, self._sent - self._applied, self._repeated, waiting),
        )


def _sizes(arrays: Arrays) -> list[Any]:
    return [[str(array.dtype), *array.shape] for array in arrays]


def _mean_of(arrays: Sequence[np.ndarray]) -> np.ndarray:
    total = arrays[0] + arrays[1] if len(arrays) > 1 else arrays[0].copy()  # senders use their memory again
    for array in arrays[2:]:
        total += array
    total /= len(arrays)
    return total
