# What requests and replies of a job are made of: words, pairs, and descriptions.
from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from ..errors import shown
from .errors import Malformed
from .process_log import AT_ONCE, TEXT_LIMIT, Event
from .shards import Block, ParameterInfo, check_block

REPORT_LIMIT = 32
"""Values in one report of a part."""


class BlockKey(NamedTuple):
    """A block of a parameter."""

    parameter: str
    number: int


class BlockDigest(NamedTuple):
    """What tells the OptimizerConfig of a block from another one."""

    parameter: str
    number: int
    digest: str


class MemberId(NamedTuple):
    """One life of a trainer or a server: the incarnation rises when it is started again."""

    number: int
    incarnation: int


class StepId(NamedTuple):
    """A state of collective mode, and the step that begins with it."""

    epoch: str
    step: int


class Role(str, Enum):
    """What a member of a job is."""

    TRAINER, SERVER = "trainer", "server"


class JoinAnswer(str, Enum):
    """FIRST: this trainer has the state that all begin with. GO_ON: it has the state of the others. TAKE: it is to take
    the state from the servers."""

    FIRST, CONTINUE, LOAD = "first", "continue", "load"


class ArriveAnswer(str, Enum):
    """MADE: the step is made. GIVE: this trainer is to give its state to the servers. ENTER: it is to enter first."""

    COMPLETE, STORE, REJOIN = "complete", "store", "rejoin"


class LeaveAnswer(str, Enum):
    """LEFT: the trainer is not waited for any more. LAST: it is the last one; GIVE, ENTER: as of ArriveAnswer."""

    LEFT, LAST, STORE, REJOIN = "left", "last", "store", "rejoin"


class TaskAnswer(str, Enum):
    """TASK: here it is. NONE_NOW: all are with others, ask again. OVER: the pass that was asked for is over. EARLIER:
    it was over before another one began. LATER: it has not begun, since the one before is not over. ALL_FAILED: every
    task of a pass failed, so there is nothing more to read."""

    TASK, NONE_NOW, OVER = "task", "none_now", "over"
    EARLIER, LATER, ALL_FAILED = "earlier", "later", "all_failed"


@dataclass
class FromTrainer:
    """Which life of which trainer sends it."""

    trainer: int
    incarnation: int


@dataclass
class FromMember:
    """report: what the member does, for who watches; events: what it has logged."""

    role: Role
    number: int
    incarnation: int
    report: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.report) > REPORT_LIMIT or not all(_is_short(value) for value in self.report.values()):
            raise Malformed(f"a report has at most {REPORT_LIMIT} numbers or short texts")
        if len(self.events) > AT_ONCE or not all(one.level <= 1000 and len(one.text) <= TEXT_LIMIT for one in self.events):
            raise Malformed(f"events are at most {AT_ONCE} pairs of level and text, of {TEXT_LIMIT} characters at most")


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
    """restarts: how often it came back after it was lost, or another life of it came; silent: seconds since it was
    heard of; report: its last one."""

    present: bool
    restarts: int
    silent: float | None
    report: dict[str, Any]


@dataclass
class Holder:
    """The trainer that has a right, for so many seconds more."""

    trainer: str
    seconds: float


@dataclass
class PushCounts:
    """Pushes that fit, each once: sent is applied, dropped and waiting together."""

    sent: int
    applied: int
    dropped: int
    repeated: int
    waiting: int


@dataclass
class CheckpointStatus:
    """recovered: what the server went on from; newest: what it wrote last; seconds: that this took."""

    recovered: dict[str, Any] | None = None
    newest: dict[str, Any] | None = None
    seconds: float = 0.0
    errors: int = 0
    last_error: str = ""


@dataclass
class State:
    """What a collective trainer's state has besides its arrays: schedules of learning rates, the optimizer's random
    generator, and whose gradients made the last step."""

    schedules: dict[str, Any]
    random: str
    contributors: list[MemberId]
