# The requests of a job, by the service that answers; their replies are in replies.py, docs/cluster.md lists both.
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._core import printable
from ..errors import shown
from .errors import Malformed, NotFinite
from .messages import Request
from .replies import (
    Arrived,
    Checkpointed,
    Compared,
    Done,
    HeartbeatReply,
    Initialiser,
    JobMembers,
    JobStatus,
    Mean,
    Pulled,
    Pushed,
    ReducerStatus,
    RendezvousJoined,
    RendezvousLeft,
    Saver,
    ServerStatus,
    StoredState,
    Task,
    TaskEnded,
    Welcome,
)
from .values import BlockDigest, BlockKey, FromMember, FromTrainer, MemberId, NewBlock, State, StepId
from .wire import Arrays

# To the coordinator


@dataclass
class Join(Request[Welcome], to="coordinator"):
    """A trainer comes. key: its own name for this life; trainer: the number that it had before."""

    key: str
    trainer: int | None = None


@dataclass
class Register(Request[Welcome], to="coordinator"):
    """A server comes. token: of the initialiser that gave its parameters."""

    key: str
    address: str
    server: int | None = None
    token: int | None = None


@dataclass
class Heartbeat(FromMember, Request[HeartbeatReply], to="coordinator"):
    """A member is there."""


@dataclass
class Leave(FromMember, Request[Done], to="coordinator"):
    """A member goes."""


@dataclass
class View(Request[JobMembers], to="coordinator"):
    """Who is in the job."""


@dataclass
class BeginInit(FromTrainer, Request[Initialiser], to="coordinator"):
    """Whether this trainer is to give servers their parameters; waits while another one does."""


@dataclass
class EndInit(FromTrainer, Request[Done], to="coordinator"):
    """These servers have their parameters."""

    token: int
    servers: list[MemberId]


@dataclass
class AskSave(FromTrainer, Request[Saver], to="coordinator"):
    """Whether this trainer saves to a directory; if so, no other one is elected for so many seconds."""

    directory: str
    seconds: float


@dataclass
class SetData(Request[Done], to="coordinator"):
    """The data set: what trainers are told to read, in tasks of so many chunks."""

    chunks: list[Any]
    chunks_per_task: int = 10


@dataclass
class GetTask(FromTrainer, Request[Task], to="coordinator"):
    """A task of a pass over the data. ask: number of the request, which rises."""

    pass_number: int
    serial: int | None = None


@dataclass
class EndTask(FromTrainer, Request[TaskEnded], to="coordinator"):
    """A task was trained on, or failed."""

    task: int
    epoch: int
    failed: bool = False


@dataclass
class JoinRendezvous(FromTrainer, Request[RendezvousJoined], to="coordinator"):
    """Collective mode: the trainer wants the state of the others. ask: number of the request, which rises. has: the
    state that it has; lost: key of one that servers do not have any more; layout: of its state."""

    serial: int
    layout: str
    has: StepId | None = None
    lost: str | None = None


@dataclass
class StateStored(FromTrainer, Request[Done], to="coordinator"):
    """Collective mode: servers have the trainer's state, under this key."""

    serial: int
    step_id: StepId
    key: str


@dataclass
class Arrive(FromTrainer, Request[Arrived], to="coordinator"):
    """Collective mode: the trainer has come to a step. full: with a gradient, which servers have."""

    serial: int
    step_id: StepId
    has_gradient: bool


@dataclass
class LeaveRendezvous(FromTrainer, Request[RendezvousLeft], to="coordinator"):
    """Collective mode: the others go on without the trainer. done: it has done what the last one does."""

    serial: int
    step_id: StepId
    done: bool


@dataclass
class GetJobStatus(Request[JobStatus], to="coordinator", name="status"):
    """What the job does. after: the last reply's events_end, so that events come once."""

    after: int = 0


# To a parameter server


@dataclass
class Init(Request[Done], to="server"):
    """Blocks of the initialiser with this token, and their values: an array each. A newer token begins anew."""

    token: int
    blocks: list[NewBlock]
    arrays: Arrays = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.blocks) != len(self.arrays):
            raise Malformed(f"{len(self.blocks)} blocks come with {len(self.arrays)} arrays")


@dataclass
class FinishInit(Request[Done], to="server"):
    """The initialiser has given all blocks, so many."""

    token: int
    count: int


@dataclass
class Push(FromTrainer, Request[Pushed], to="server"):
    """Gradients of one trainer's step: an array for a dense block; rows and values for a table. version: of the pull
    that they were made from; pass_number: over the data. NotFinite where a value is not finite."""

    step: int
    blocks: list[BlockKey]
    membership: int = 0
    version: int | None = None
    pass_number: int = 0
    arrays: Arrays = field(default_factory=list)

    def __post_init__(self) -> None:
        for number, array in enumerate(self.arrays):
            if not np.isfinite(array).all():
                raise NotFinite(
                    f"what trainer {self.trainer} pushes for step {self.step} is not finite in "
                    f"{self._name_at(number)}: none of it is applied"
                )

    def _name_at(self, number: int) -> str:
        """Which parameter an array is of, as far as is known: rows of tables come before their values."""
        before = sum(array.dtype.kind == "f" for array in self.arrays[:number])
        return f"'{printable(self.blocks[before].parameter)}'" if before < len(self.blocks) else "an array"


@dataclass
class PushDelta(Push, to="server"):
    """Differences, where trainers optimize; else as push."""


@dataclass
class Pull(Request[Pulled], to="server"):
    """Copies of blocks, and of rows of tables, of each an array of numbers; all of one version. Waits for min_version.
    average: one of the averages in place of the values."""

    blocks: list[BlockKey] = field(default_factory=list)
    rows: list[BlockKey] = field(default_factory=list)
    min_version: int = 0
    average: int | None = None
    arrays: Arrays = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.arrays):
            raise Malformed(f"rows of {len(self.rows)} tables come with {len(self.arrays)} arrays")


@dataclass
class Compare(Request[Compared], to="server"):
    """Which parameters the server trains otherwise."""

    blocks: list[BlockDigest]


@dataclass
class SetMembers(Request[Done], to="server", name="members"):
    """Who the trainers are, from this membership on."""

    membership: int
    trainers: list[MemberId]

    def __post_init__(self) -> None:
        if len({one.number for one in self.trainers}) != len(self.trainers):
            raise Malformed(f"members are {shown([list(one) for one in self.trainers])}, each number may be there once")


@dataclass
class Checkpoint(Request[Checkpointed], to="server"):
    """Write a checkpoint now. timestamp: nanoseconds since 1970, the same for servers that are asked together."""

    timestamp: int | None = None


@dataclass
class GetServerStatus(Request[ServerStatus], to="server", name="status"):
    """What the server is and has done; also before it has parameters."""


# To a server of collective mode


@dataclass
class Add(FromTrainer, Request[Done], to="reducer"):
    """A trainer's gradient for a step. serial: rises in a trainer's life."""

    serial: int
    step_id: StepId
    arrays: Arrays = field(default_factory=list)


@dataclass
class GetMean(Request[Mean], to="reducer", name="mean"):
    """The mean of these trainers' gradients, in their order."""

    step_id: StepId
    of: list[MemberId]

    def __post_init__(self) -> None:
        if not self.of:
            raise Malformed("'of' is empty, a mean is of at least one gradient")


@dataclass
class PutState(Request[Done], to="reducer"):
    """A share of a trainer's state, under a key."""

    key: str
    step_id: StepId
    state: State
    arrays: Arrays = field(default_factory=list)


@dataclass
class GetState(Request[StoredState], to="reducer"):
    """The share of the state with this key."""

    key: str


@dataclass
class GetReducerStatus(Request[ReducerStatus], to="reducer", name="status"):
    """What the server has added up."""
