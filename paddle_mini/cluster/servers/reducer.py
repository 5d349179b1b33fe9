# Reducer: in collective mode, a server that averages its share of all gradients and transfers training states.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..collective_protocol import Add, GetMean, GetReducerStatus, GetState, PutState
from ..errors import WrongShape
from ..job_settings import JobSettings
from ..replies import Done, Mean, ReducerStatus, StoredState
from ..service import Answering
from ..values import MemberId, PushCounts, StepId
from ..wire import Arrays

_KEPT = 2
"""Means that are kept: a trainer may still need the mean of a step when another one has that of the next."""


class _Contribution(NamedTuple):
    """The last gradient of a trainer. serial: increases within an incarnation. arrays: None after they were averaged;
    applied: whether they ever were."""

    incarnation: int
    serial: int
    step_id: StepId
    arrays: Arrays | None
    applied: bool


class Reducer(Answering):
    """The service "server N" of a collective job. Requests for a mean name the contributors. Its data are not durable:
    after a restart its replies report them as missing."""

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
        """Does nothing: a reducer has no periodic work."""

    def _add(self, request: Add) -> Done:
        """Stores the arrays without a copy; their sender must not change them before the mean is computed."""
        trainer, step_id, before = request.trainer, request.step_id, self._contributions.get(request.trainer)
        life = request.incarnation, request.serial
        if before is not None and life <= (before.incarnation, before.serial):
            self._repeated += 1
            return Done(repeated=True)
        sizes = _sizes(request.arrays)
        for other in self._contributions.values():
            if other.arrays is not None and _sizes(other.arrays) != sizes:
                raise WrongShape(f"trainer {trainer} sends arrays of {sizes}, others of {_sizes(other.arrays)}")
        # The same gradient is sent again when another server has lost its share: it counts once.
        again = before if before is not None and (before.incarnation, before.step_id) == (request.incarnation, step_id) else None
        self._repeated += again is not None
        self._sent += again is None
        self._contributions[trainer] = _Contribution(*life, step_id, request.arrays, again is not None and again.applied)
        if self._state is not None and self._state.step_id.epoch == step_id.epoch and self._state.step_id.step < step_id.step:
            self._state = None  # the trainer that waited for it has loaded it
        return Done()

    def _mean(self, request: GetMean) -> Mean:
        """The sum in the order of the trainers, divided by their number: the bits do not depend on the order of
        arrival."""
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
        """sent: received gradients; those that never entered a mean, as their trainer died, count as dropped."""
        waiting = sum(one.arrays is not None for one in self._contributions.values())
        return ReducerStatus(
            self.index,
            self._settings.mode,
            PushCounts(self._sent, self._applied, self._sent - self._applied, self._repeated, waiting),
        )


def _sizes(arrays: Arrays) -> list[Any]:
    return [[str(array.dtype), *array.shape] for array in arrays]


def _mean_of(arrays: Sequence[np.ndarray]) -> np.ndarray:
    total = arrays[0] + arrays[1] if len(arrays) > 1 else arrays[0].copy()  # senders reuse their memory
    for array in arrays[2:]:
        total += array
    total /= len(arrays)
    return total
