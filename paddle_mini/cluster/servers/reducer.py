# Reducer: in collective mode, a server adds up its part of all trainers' gradients, and hands on states.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import shown
from ..errors import Malformed, WrongShape
from ..job_settings import JobSettings
from ..wire import Arrays, Header, Reply, answer, field

_KEPT = 2
"""Means: a trainer may still ask for that of a step when another one has that of the next."""

Step = tuple[str, int]
"""Era and number, as of Meeting."""


class _Part(NamedTuple):
    """What a trainer sent last. serial: rises in a trainer's life. arrays: None when a mean was made of them; applied:
    whether one ever was."""

    incarnation: int
    serial: int
    step: Step
    arrays: Arrays | None
    applied: bool


class Reducer:
    """The service "server N" of a collective job. It decides nothing: whoever asks for a mean says whose. Requests:

        add        trainer, incarnation, serial, at; arrays   repeated?
        mean       at, of: [[trainer, incarnation], …]        missing; arrays
        put_state  key, at, about; arrays                     (nothing)
        get_state  key                                        missing, about; arrays
        status                                                what it is and has done

    What it had is lost when it dies: "missing" says so.
    """

    def __init__(self, index: int, settings: JobSettings):
        self.index, self._settings = index, settings
        self._parts: dict[int, _Part] = {}
        self._means: dict[tuple[Any, ...], Arrays] = {}
        self._state: tuple[str, Step, Header, Arrays] = "", ("", 0), {}, []
        self._sent = self._applied = self._repeated = 0
        self._requests: dict[str, Callable[[Header, Arrays], Reply]] = {
            "add": self._add,
            "mean": self._mean,
            "put_state": self._put_state,
            "get_state": self._get_state,
            "status": self._status,
        }

    def handle(self, header: bytes, arrays: Sequence[Any]) -> tuple[bytes, Arrays]:
        """Does one request and returns the reply; never raises."""
        return answer(self._settings.job, self._do, header, arrays)

    def tick(self) -> None:
        """Nothing is due here by itself."""

    def _do(self, name: str, asked: Header, arrays: Arrays) -> Reply:
        if name not in self._requests:
            raise Malformed(f"in collective mode a server knows no request {shown(name)}")
        return self._requests[name](asked, arrays)

    def _add(self, asked: Header, arrays: Arrays) -> Reply:
        """The arrays are used until the mean that they are part of is made; their sender leaves them alone."""
        trainer, incarnation, serial = (field(asked, word, int) for word in ("trainer", "incarnation", "serial"))
        step, before = _step(asked), self._parts.get(trainer)
        if before is not None and (incarnation, serial) <= (before.incarnation, before.serial):
            self._repeated += 1
            return {"repeated": True}, []
        for part in self._parts.values():
            if part.arrays is not None and _sizes(part.arrays) != _sizes(arrays):
                raise WrongShape(f"trainer {trainer} sends arrays of {_sizes(arrays)}, others of {_sizes(part.arrays)}")
        # The same gradient once more, as another server had lost its part: it counts as one.
        again = before if before is not None and (before.incarnation, before.step) == (incarnation, step) else None
        self._repeated += again is not None
        self._sent += again is None
        self._parts[trainer] = _Part(incarnation, serial, step, arrays, again is not None and again.applied)
        _, (era, number), _, _ = self._state
        if era == step[0] and number < step[1]:
            self._state = "", ("", 0), {}, []  # whoever was to take it has
        return {}, []

    def _mean(self, asked: Header, arrays: Arrays) -> Reply:
        """The sum in the order of the trainers, which gives the same bits whoever came first, over their number."""
        step, of = _step(asked), field(asked, "of", list)
        if not of or not all(isinstance(pair, list) and [type(word) for word in pair] == [int, int] for pair in of):
            raise Malformed(f"'of' is {shown(of)}, it must be a list of [trainer, incarnation]")
        key = (step, *map(tuple, of))
        if key not in self._means:
            parts = self._parts_of(step, of)
            if parts is None:
                return {"missing": True}, []
            self._means[key] = [_mean_of(arrays) for arrays in zip(*parts)]
            for trainer, _ in of:
                self._applied += not self._parts[trainer].applied
                self._parts[trainer] = self._parts[trainer]._replace(arrays=None, applied=True)
            while len(self._means) > _KEPT:
                del self._means[next(iter(self._means))]
        return {"missing": False}, self._means[key]

    def _parts_of(self, step: Step, of: list[Any]) -> list[Arrays] | None:
        found = []
        for trainer, incarnation in of:
            part = self._parts.get(trainer)
            if part is None or (part.incarnation, part.step) != (incarnation, step) or part.arrays is None:
                return None
            found.append(part.arrays)
        return found

    def _put_state(self, asked: Header, arrays: Arrays) -> Reply:
        self._state = field(asked, "key", str), _step(asked), field(asked, "about", dict), arrays
        return {}, []

    def _get_state(self, asked: Header, arrays: Arrays) -> Reply:
        key, _, about, state = self._state
        if field(asked, "key", str) != key:
            return {"missing": True, "about": {}}, []
        return {"missing": False, "about": about}, state

    def _status(self, asked: Header, arrays: Arrays) -> Reply:
        """sent: gradients that came; those that are no part of a mean, as their trainer died, were dropped."""
        waiting = sum(part.arrays is not None for part in self._parts.values())
        pushes = {
            "sent": self._sent,
            "applied": self._applied,
            "dropped": self._sent - self._applied,
            "repeated": self._repeated,
            "waiting": waiting,
        }
        return {"index": self.index, "mode": self._settings.mode, "pushes": pushes}, []


def _step(asked: Header) -> Step:
    at = field(asked, "at", list)
    if [type(word) for word in at] != [str, int]:
        raise Malformed(f"'at' is {shown(at)}, it must be an era and a step")
    return at[0], at[1]


def _sizes(arrays: Arrays) -> list[Any]:
    return [[str(array.dtype), *array.shape] for array in arrays]


def _mean_of(arrays: Sequence[np.ndarray]) -> np.ndarray:
    total = arrays[0] + arrays[1] if len(arrays) > 1 else arrays[0].copy()  # senders use their memory again
    for array in arrays[2:]:
        total += array
    total /= len(arrays)
    return total
