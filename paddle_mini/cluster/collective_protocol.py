# The requests of collective mode: of trainers to each other, and to the coordinator; protocol.py has all others.
from __future__ import annotations

from dataclasses import dataclass

from . import replies
from .errors import Malformed
from .messages import Request
from .values import FromTrainer, Gpu, MemberId, StepId


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


@dataclass
class JoinRendezvous(FromTrainer, Request[replies.RendezvousJoined], service="coordinator"):
    """Collective mode: the trainer joins and gets the common state. serial: of the request; increases. has: the state
    that it has; lost: the key of a state that its holder has lost; layout: digest of its variables; address: where other
    trainers reach it."""

    serial: int
    layout: str
    address: str
    has: StepId | None = None
    lost: str | None = None


@dataclass
class StateStored(FromTrainer, Request[replies.Done], service="coordinator"):
    """Collective mode: the trainer keeps its state for others, under this key."""

    serial: int
    step_id: StepId
    key: str


@dataclass
class StateSaved(FromTrainer, Request[replies.Done], service="coordinator"):
    """Collective mode: the trainer has written the checkpoint with which the job is stopped. problem: why it could not."""

    serial: int
    step_id: StepId
    problem: str = ""


@dataclass
class Arrive(FromTrainer, Request[replies.Arrived], service="coordinator"):
    """Collective mode: the trainer has arrived at a step. has_gradient: the others can read its gradient; number: of the one
    that is in its memory, where trainers of its machine need not ask for it; 0 if it is not there. gpu: that has it.
    fails: its function has failed, which stops the job: it makes no step, but it may have the newest state."""

    serial: int
    step_id: StepId
    has_gradient: bool
    number: int = 0
    gpu: Gpu | None = None
    fails: bool = False


@dataclass
class LeaveRendezvous(FromTrainer, Request[replies.RendezvousLeft], service="coordinator"):
    """Collective mode: the trainer leaves. done: it has finished the work of the last trainer."""

    serial: int
    step_id: StepId
    done: bool


@dataclass
class AwaitEnd(FromTrainer, Request[replies.RendezvousLeft], service="coordinator"):
    """Collective mode: the trainer has left after its last step. The reply comes when no other trainer needs its state any more,
    however long that takes."""

    is_patient = True

    serial: int
    step_id: StepId


@dataclass
class Stop(Request[replies.Stopped], service="coordinator"):
    """Collective mode: the job is stopped, and no further step is made. The reply comes when a trainer has written a checkpoint
    of the newest state, or could not, or if there is none."""


@dataclass
class GetAddresses(Request[replies.Addresses], service="coordinator"):
    """Collective mode: where these trainers are reached, of which some may have left."""

    of: list[MemberId]
