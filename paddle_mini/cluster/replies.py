# The replies of a job's services to the requests of protocol.py.
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .errors import Malformed
from .latencies import Latencies
from .memory_file import Place
from .messages import Reply, ServerReply
from .process_log import Event
from .values import (
    ArriveAnswer,
    CheckpointStatus,
    Clique,
    Holder,
    JoinAnswer,
    LeaveAnswer,
    MemberId,
    MemberStatus,
    PushCounts,
    RendezvousStatus,
    ServerRow,
    State,
    StepId,
    Task,
    TaskAnswer,
)
from .wire import Arrays


@dataclass
class Done(Reply):
    """repeated: the request was handled before, so nothing has changed."""

    repeated: bool = False


@dataclass
class Welcome(Reply):
    """membership increases when trainers or servers join or leave; facts: of CoordinatorSettings. started: whether all
    initial trainers have joined once; since: the membership before this trainer joined, if the job had started then."""

    number: int
    incarnation: int
    membership: int
    lease: float
    facts: dict[str, Any]
    started: bool
    since: int | None


@dataclass
class Left(Reply):
    """membership, started, since: as in Welcome; since: None if the member had left before."""

    membership: int
    started: bool
    since: int | None


@dataclass
class HeartbeatReply(Reply):
    """As in Welcome."""

    membership: int
    started: bool


@dataclass
class JobMembers(Reply):
    """started: whether all initial trainers have joined once. since: if it is not None, the trainers are only those that
    have joined after this membership, and the numbers `gone` have left."""

    trainers: list[MemberId]
    servers: list[ServerRow]
    started: bool
    initialised: bool
    membership: int
    since: int | None = None
    gone: list[int] = field(default_factory=list)


@dataclass
class Initialiser(Reply):
    """token: of the trainer, which is selected to initialise these servers; None: all are initialised."""

    token: int | None
    servers: list[ServerRow]


@dataclass
class Saver(Reply):
    """token: of the trainer, which is elected; None: another one is."""

    token: int | None


@dataclass
class Tasks(Reply):
    """tasks: for the answer TASK, to be done in this order."""

    answer: TaskAnswer
    tasks: list[Task] = field(default_factory=list)


@dataclass
class TasksEnded(Reply):
    """counted: False for a task that was reassigned before."""

    counted: list[bool]


@dataclass
class RendezvousJoined(Reply):
    """key: of the state to load; holder: the trainer that keeps it."""

    answer: JoinAnswer
    step_id: StepId
    key: str = ""
    holder: MemberId | None = None


@dataclass
class Arrived(Reply):
    """contributors: the trainers whose gradients make the step; numbers: of these, as in the request. clique: of all trainers
    that make it, if their GPUs add up."""

    answer: ArriveAnswer
    contributors: list[MemberId] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    clique: Clique | None = None

    def __post_init__(self) -> None:
        if len(self.numbers) != len(self.contributors):
            raise Malformed(f"{len(self.numbers)} numbers of the gradients of {len(self.contributors)} contributors")


@dataclass
class RendezvousLeft(Reply):
    answer: LeaveAnswer


@dataclass
class Stopped(Reply):
    """step: of the state that was to be saved; None if there was none. problem: why it was not."""

    step: int | None = None
    problem: str = ""


@dataclass
class JobStatus(Reply):
    """trainers, servers: by number. leases: by right. events_end: `after` of the next request. rendezvous: of collective
    mode; latencies: of the coordinator."""

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
    rendezvous: RendezvousStatus
    latencies: Latencies


@dataclass
class Pushed(ServerReply):
    """repeated: the push was received before. arrays: what the push wanted, as in the reply to a pull."""

    repeated: bool = False
    arrays: Arrays = field(default_factory=list)


@dataclass
class Pulled(ServerReply):
    """arrays: the values of blocks, then of rows."""

    arrays: Arrays


@dataclass
class Compared(ServerReply):
    """other: parameters with another OptimizerConfig on the server."""

    other: list[str]


@dataclass
class Checkpointed(ServerReply):
    checkpoint: dict[str, Any]


@dataclass
class ServerStatus(ServerReply):
    """members: numbers and incarnations of trainers, null if unknown. received, given: bytes of arrays."""

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
class Addresses(Reply):
    """Where trainers are reached, in the order of the request; "" if it is not known."""

    addresses: list[str]


@dataclass
class TrainerMemory(Reply):
    """place: None if other processes can't read the memory."""

    place: Place | None


@dataclass
class Share(Reply):
    """missing: the trainer has not, or no longer, what was asked for. serial: of what it has: the share is intact if the memory
    has the same serial after it was read. arrays: a copy of the share, if one was asked for."""

    missing: bool
    serial: int = 0
    arrays: Arrays = field(default_factory=list)


@dataclass
class StoredState(Reply):
    """state: None if the trainer does not have the state with this key."""

    state: State | None = None
    arrays: Arrays = field(default_factory=list)
