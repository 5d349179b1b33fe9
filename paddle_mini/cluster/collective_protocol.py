# The requests of a job to a server of collective mode; protocol.py has the others.
from __future__ import annotations

from dataclasses import dataclass, field

from . import replies
from .errors import Malformed
from .messages import Request
from .values import FromTrainer, MemberId, State, StepId
from .wire import Arrays


@dataclass
class Add(FromTrainer, Request[replies.Done], service="reducer"):
    """A trainer's gradient for a step. serial: increases within an incarnation."""

    is_kept = True
    serial: int
    step_id: StepId
    arrays: Arrays = field(default_factory=list)


@dataclass
class GetMean(Request[replies.Mean], service="reducer", name="mean"):
    """The mean of these trainers' gradients, in their order."""

    step_id: StepId
    of: list[MemberId]

    def __post_init__(self) -> None:
        if not self.of:
            raise Malformed("'of' is empty, a mean needs at least one gradient")


@dataclass
class PutState(Request[replies.Done], service="reducer"):
    """A share of a trainer's state, under a key."""

    is_kept = True
    key: str
    step_id: StepId
    state: State
    arrays: Arrays = field(default_factory=list)


@dataclass
class GetState(Request[replies.StoredState], service="reducer"):
    """The share of the state with this key."""

    key: str


@dataclass
class GetReducerStatus(Request[replies.ReducerStatus], service="reducer", name="status"):
    """Counts of the gradients that the server has averaged."""
