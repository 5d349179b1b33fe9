# The replies of a job's services, to the requests of protocol.py.
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .messages import Reply, ServerReply
from .process_log import Event
from .values import (
    ArriveAnswer,
    CheckpointStatus,
    Holder,
    JoinAnswer,
    LeaveAnswer,
    MemberId,
    MemberStatus,
    PushCounts,
    ServerRow,
    State,
    StepId,
    TaskAnswer,
)
from .wire import Arrays


@dataclass
class Done(Reply):
    """repeated: it was done before, so that nothing has changed."""

    repeated: bool = False


@dataclass
class Welcome(Reply):
    """membership rises when trainers or servers come or go; facts: what each part is told."""

    number: int
    incarnation: int
    membership: int
    lease: float
    facts: dict[str, Any]


@dataclass
class HeartbeatReply(Reply):
    membership: int


@dataclass
class JobMembers(Reply):
    """started: whether all trainers that the job begins with were there once."""

    trainers: list[MemberId]
    servers: list[ServerRow]
    started: bool
    initialised: bool
    membership: int


@dataclass
class Initialiser(Reply):
    """token: of the trainer that is selected to give these servers their parameters; None: all have theirs."""

    token: int | None
    servers: list[ServerRow]


@dataclass
class Saver(Reply):
    """token: of the trainer that is elected; None: another one is."""

    token: int | None


@dataclass
class Task(Reply):
    """task, epoch, chunks: of a TASK."""

    answer: TaskAnswer
    task: int = 0
    epoch: int = 0
    chunks: list[Any] = field(default_factory=list)


@dataclass
class TaskEnded(Reply):
    """counted: False when the task was taken back before."""

    counted: bool


@dataclass
class RendezvousJoined(Reply):
    """key: of the state to take."""

    answer: JoinAnswer
    step_id: StepId
    key: str = ""


@dataclass
class Arrived(Reply):
    """made: whose gradients the step is made of."""

    answer: ArriveAnswer
    contributors: list[MemberId] = field(default_factory=list)


@dataclass
class RendezvousLeft(Reply):
    answer: LeaveAnswer


@dataclass
class JobStatus(Reply):
    """trainers, servers: by number. leases: by right. events_end: what to ask for events after, next time."""

    trainers: dict[str, MemberStatus]
    servers: dict[str, MemberStatus]
    tasks: dict[str, int]
    leases: dict[str, Holder]
    started: bool
    initialised: bool
    restarts: int
    storage_errors: int
    events: list[Event]
    events_end: int


@dataclass
class Pushed(ServerReply):
    """repeated: it came before."""

    repeated: bool = False


@dataclass
class Pulled(ServerReply):
    """arrays: the values of blocks, then of rows."""

    arrays: Arrays


@dataclass
class Compared(ServerReply):
    """other: parameters that have another OptimizerConfig here."""

    other: list[str]


@dataclass
class Checkpointed(ServerReply):
    checkpoint: dict[str, Any]


@dataclass
class ServerStatus(ServerReply):
    """members: numbers and incarnations of trainers, null until it is known. received, given: bytes of arrays."""

    index: int
    mode: str
    initialised: bool
    blocks: int
    bytes: int
    membership: int
    members: list[tuple[int, int | None]]
    pushes: PushCounts
    checkpoints: CheckpointStatus
    received: int
    given: int
    behind: int
    worst_behind: int


@dataclass
class ReducerStatus(Reply):
    index: int
    mode: str
    pushes: PushCounts


@dataclass
class Mean(Reply):
    """missing: the server does not have all gradients any more."""

    missing: bool
    arrays: Arrays = field(default_factory=list)


@dataclass
class StoredState(Reply):
    """One server's share of the state with the key that was asked for; state: None where it is not here."""

    state: State | None = None
    arrays: Arrays = field(default_factory=list)
