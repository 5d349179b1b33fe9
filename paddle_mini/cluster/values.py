# Values in requests and replies of a job: enumerations, named tuples and dataclasses.
from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from ..errors import shown
from .errors import Malformed
from .latencies import BOUNDS, Latencies
from .process_log import AT_ONCE, TEXT_LIMIT, Event
from .shards import Block, ParameterInfo, check_block

REPORT_LIMIT = 32
"""Maximal values in one report of a process."""


class BlockKey(NamedTuple):
    """A block of a parameter."""

    parameter: str
    number: int


class Part(NamedTuple):
    """Elements of a block, or rows of a table's block, in [begin, end), counted from the block's begin."""

    begin: int
    end: int


class BlockDigest(NamedTuple):
    """A block of a program's parameter, and the digest of its OptimizerConfig."""

    info: ParameterInfo
    block: Block
    digest: str


class MemberId(NamedTuple):
    """A trainer or a server: the incarnation increases when it restarts."""

    number: int
    incarnation: int


class Gpu(NamedTuple):
    """The GPU of a trainer in collective mode, and the version of NCCL by which it adds up. clique: the id of the clique that
    the trainer is in; offer: of one that it can be the first member of; b"": of none."""

    version: str
    identity: str
    clique: bytes
    offer: bytes


class Clique(NamedTuple):
    """Trainers, in the order of their ranks, whose GPUs add up gradients. id: of NCCL."""

    id: bytes
    members: list[MemberId]


class StepId(NamedTuple):
    """A training state of collective mode, and the step that begins with it."""

    epoch: str
    step: int


class TaskId(NamedTuple):
    """A data task. epoch: increases with each assignment to a trainer."""

    task: int
    epoch: int


class Task(NamedTuple):
    """A data task that is assigned to a trainer."""

    task: int
    epoch: int
    chunks: list[Any]


class Role(str, Enum):
    """The kind of a member of a job."""

    TRAINER, SERVER = "trainer", "server"


class JoinAnswer(str, Enum):
    """FIRST: this trainer provides the initial state. CONTINUE: it has the state of the others. LOAD: it must load the
    state from another one."""

    FIRST, CONTINUE, LOAD = "first", "continue", "load"


class ArriveAnswer(str, Enum):
    """COMPLETE: the step is complete. STORE: this trainer must keep its state for others. REJOIN: it must join the
    rendezvous again. SAVE: the job is stopped, and this trainer must write a checkpoint of its state."""

    COMPLETE, STORE, REJOIN, SAVE = "complete", "store", "rejoin", "save"


class LeaveAnswer(str, Enum):
    """LEFT: the trainer has left. LAST: it is the last one; STORE, REJOIN, SAVE: as for ArriveAnswer."""

    LEFT, LAST, STORE, REJOIN, SAVE = "left", "last", "store", "rejoin", "save"


class TaskAnswer(str, Enum):
    """TASK: a task is assigned. NONE_NOW: all are assigned to others, retry later. OVER: the requested pass is
    complete. EARLIER: a later pass has begun. LATER: the pass has not begun, since the one before is not complete.
    ALL_FAILED: every task of a pass failed, so no data are left."""

    TASK, NONE_NOW, OVER = "task", "none_now", "over"
    EARLIER, LATER, ALL_FAILED = "earlier", "later", "all_failed"


@dataclass
class FromTrainer:
    """The trainer that sends the request."""

    trainer: int
    incarnation: int


@dataclass
class FromMember:
    """report: the status of the member; events: its log events; latencies: of the requests that it answered."""

    role: Role
    number: int
    incarnation: int
    report: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    latencies: Latencies = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.report) > REPORT_LIMIT or not all(_is_short(value) for value in self.report.values()):
            raise Malformed(f"a report has at most {REPORT_LIMIT} numbers or short texts")
        if len(self.events) > AT_ONCE or not all(one.level <= 1000 and len(one.text) <= TEXT_LIMIT for one in self.events):
            raise Malformed(f"events are at most {AT_ONCE} pairs of level and text, of {TEXT_LIMIT} characters at most")
        if len(self.latencies) > REPORT_LIMIT or not all(len(counts) <= len(BOUNDS) + 1 for counts in self.latencies.values()):
            raise Malformed(f"latencies are at most {REPORT_LIMIT} lists of {len(BOUNDS) + 1} counts at most")


def _is_short(value: Any) -> bool:
    return value is None or (isinstance(value, (str, int, float)) and len(shown(value)) < 200)


@dataclass
class NewBlock:
    """config: bytes of an OptimizerConfig."""

    info: ParameterInfo
    block: Block
    config: bytes

    def __post_init__(self) -> None:
        check_block(self.info, self.block)


@dataclass
class ServerRow:
    server: int
    incarnation: int
    address: str
    initialised: bool


@dataclass
class MemberStatus:
    """lost: it was lost or replaced, and did not leave. restarts: joins after that; silent: seconds since its last
    message; report, latencies: its last ones."""

    present: bool
    lost: bool
    restarts: int
    silent: float | None
    report: dict[str, Any]
    latencies: Latencies = field(default_factory=dict)


@dataclass
class RendezvousStatus:
    """step: the next one; members: the trainers that make it; waiting: those that wait for a state."""

    step: int
    members: list[int]
    waiting: list[int]


@dataclass
class Holder:
    """The holder of a lease, and the remaining seconds."""

    trainer: str
    seconds: float


@dataclass
class PushCounts:
    """Valid pushes, without repetitions: sent is the sum of applied, dropped and waiting."""

    sent: int
    applied: int
    dropped: int
    repeated: int
    waiting: int


@dataclass
class CheckpointStatus:
    """recovered: the checkpoint from which the server resumed; newest: the last one written; seconds: its duration."""

    recovered: dict[str, Any] | None = None
    newest: dict[str, Any] | None = None
    seconds: float = 0.0
    errors: int = 0
    last_error: str = ""


@dataclass
class State:
    """The state of a collective trainer without its arrays: learning-rate schedules, the optimizer's random generator,
    and the contributors of the last step."""

    schedules: dict[str, Any]
    random: str
    contributors: list[MemberId]
