# The requests of a job to a trainer of collective mode, from the others; protocol.py has those to other services.
from __future__ import annotations

from dataclasses import dataclass

from . import replies
from .errors import Malformed
from .messages import Request
from .values import StepId


@dataclass
class GetMemory(Request[replies.TrainerMemory], service="trainer"):
    """Where the trainer's gradients and means are, for trainers of its machine."""


@dataclass
class GetGradient(Request[replies.Share], service="trainer"):
    """Share `share` of `shares` of the trainer's gradient for a step. copies: the sender can't read the trainer's memory."""

    step_id: StepId
    share: int
    shares: int
    copies: bool

    def __post_init__(self) -> None:
        if self.share >= self.shares:
            raise Malformed(f"share {self.share} of {self.shares} does not exist")


@dataclass
class GetMean(GetGradient, service="trainer"):
    """The same of the mean of all gradients; waits until the trainer has computed this share."""


@dataclass
class GetState(Request[replies.StoredState], service="trainer"):
    """The training state that the trainer keeps under this key."""

    key: str


@dataclass
class Wake(Request[replies.Done], service="trainer"):
    """The trainer's gradient is in the memory, or its share of a mean: requests that wait for it are answered. From itself."""
