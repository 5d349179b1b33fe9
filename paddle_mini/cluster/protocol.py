# The requests of a job, by the service that answers them; replies.py has the replies, docs/cluster.md lists both.
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._core import printable
from ..errors import shown
from . import replies
from .errors import Malformed, NotFinite
from .messages import Request
from .values import BlockDigest, BlockKey, FromMember, FromTrainer, MemberId, NewBlock, Part, TaskId
from .wire import Arrays

# To the coordinator


@dataclass
class Join(Request[replies.Welcome], service="coordinator"):
    """A trainer joins. key: its unique name for this incarnation; trainer: its previous number."""

    key: str
    trainer: int | None = None


@dataclass
class Register(Request[replies.Welcome], service="coordinator"):
    """A server joins. token: of the initialiser of its parameters."""

    key: str
    address: str
    server: int | None = None
    token: int | None = None


@dataclass
class Heartbeat(FromMember, Request[replies.HeartbeatReply], service="coordinator"):
    """Renews the lease of a member."""


@dataclass
class Leave(FromMember, Request[replies.Left], service="coordinator"):
    """A member leaves. ends: for good."""

    ends: bool = False


@dataclass
class View(Request[replies.JobMembers], service="coordinator"):
    """The members of the job. since: a membership, of whose trainers only later changes are wanted."""

    since: int | None = None


@dataclass
class BeginInit(FromTrainer, Request[replies.Initialiser], service="coordinator"):
    """Whether this trainer must initialise servers; waits while another trainer does."""


@dataclass
class EndInit(FromTrainer, Request[replies.Done], service="coordinator"):
    """These servers are initialised."""

    token: int
    servers: list[MemberId]


@dataclass
class AskSave(FromTrainer, Request[replies.Saver], service="coordinator"):
    """Whether this trainer is elected to save to a directory; if so, no other one is elected for so many seconds. saves:
    it is saving, and no other one is elected before it repeats this, or is lost."""

    directory: str
    seconds: float
    saves: bool = False


@dataclass
class SetData(Request[replies.Done], service="coordinator"):
    """Defines the data set: chunks for trainers to read, in tasks of so many chunks."""

    chunks: list[Any]
    chunks_per_task: int = 10


@dataclass
class GetTasks(FromTrainer, Request[replies.Tasks], service="coordinator"):
    """At most so many tasks of a pass over the data. serial: of the request; increases."""

    pass_number: int
    serial: int | None = None
    most: int = 1


@dataclass
class EndTasks(FromTrainer, Request[replies.TasksEnded], service="coordinator"):
    """Tasks are done, or failed."""

    tasks: list[TaskId]
    failed: bool = False


@dataclass
class GetJobStatus(Request[replies.JobStatus], service="coordinator", name="status"):
    """The status of the job. after: events_end of the previous reply, so that each event is sent once."""

    after: int = 0


# To a parameter server


@dataclass
class Init(Request[replies.Done], service="server"):
    """Blocks from the initialiser with this token, and an array of values for each. A newer token starts over."""

    token: int
    blocks: list[NewBlock]
    arrays: Arrays = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.blocks) != len(self.arrays):
            raise Malformed(f"{len(self.blocks)} blocks come with {len(self.arrays)} arrays")


@dataclass
class FinishInit(Request[replies.Done], service="server"):
    """The initialiser has sent all blocks, so many. version: of these parameters."""

    token: int
    count: int
    version: int = 0


@dataclass
class Push(FromTrainer, Request[replies.Pushed], service="server"):
    """Gradients of one trainer's step: an array for a dense block; rows and values for a table. token, version: of the
    parameters that they were computed from; pass_number: over the data. NotFinite if a value is not finite.
    wanted, rows: what the reply has of the parameters for the next step, as in a pull; the last arrays are the indices
    of rows. It then waits for min_version."""

    repeats = ("blocks", "wanted", "rows")
    step: int
    blocks: list[BlockKey]
    membership: int = 0
    token: int | None = None
    version: int | None = None
    pass_number: int = 0
    wanted: list[BlockKey] = field(default_factory=list)
    rows: list[BlockKey] = field(default_factory=list)
    min_version: int = 0
    arrays: Arrays = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.rows) > len(self.arrays):
            raise Malformed(f"rows of {len(self.rows)} tables come with {len(self.arrays)} arrays")
        for number, array in enumerate(self.arrays):
            if not is_finite(array):
                raise NotFinite(
                    f"the push of trainer {self.trainer} for step {self.step} is not finite in "
                    f"{self._name_at(number)}: none of it is applied"
                )

    def _name_at(self, number: int) -> str:
        """The parameter of an array, as far as it is known: rows of tables precede their values."""
        before = sum(array.dtype.kind == "f" for array in self.arrays[:number])
        return f"'{printable(self.blocks[before].parameter)}'" if before < len(self.blocks) else "an array"


def is_finite(array: np.ndarray) -> bool:
    """Whether all values are. A sum of squares, which has no temporary array, is not finite if a value is not; it may
    also overflow."""
    flat = array.ravel()
    return array.dtype.kind == "i" or bool(np.dot(flat, flat) < np.inf) or bool(np.isfinite(array).all())


@dataclass
class PushDelta(Push, service="server"):
    """Differences, in modes in which trainers optimize; otherwise like push."""


@dataclass
class Pull(Request[replies.Pulled], service="server"):
    """Copies of blocks, and of rows of tables, whose indices are the arrays; all of one version. Waits for min_version.
    average: the index of an average to pull in place of the values. parts: what is read of each block, elements or rows from
    the block's begin; all, if there are none."""

    repeats = ("blocks", "rows")
    blocks: list[BlockKey] = field(default_factory=list)
    rows: list[BlockKey] = field(default_factory=list)
    min_version: int = 0
    average: int | None = None
    parts: list[Part] = field(default_factory=list)
    arrays: Arrays = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.arrays):
            raise Malformed(f"rows of {len(self.rows)} tables come with {len(self.arrays)} arrays")
        if self.parts and len(self.parts) != len(self.blocks):
            raise Malformed(f"{len(self.parts)} parts are of {len(self.blocks)} blocks")


@dataclass
class Compare(Request[replies.Compared], service="server"):
    """The parameters that the server trains with another configuration. UnknownParameter or WrongShape for blocks of another
    program."""

    blocks: list[BlockDigest]


@dataclass
class SetMembers(Request[replies.Done], service="server", name="members"):
    """Sets the trainers, from this membership on. since: only these trainers have joined after the membership `since`, and
    the numbers `gone` have left; a server that knows another membership asks the coordinator."""

    membership: int
    trainers: list[MemberId]
    since: int | None = None
    gone: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if len({one.number for one in self.trainers}) != len(self.trainers):
            raise Malformed(f"members are {shown([list(one) for one in self.trainers])}: each number may occur once")


@dataclass
class Checkpoint(Request[replies.Checkpointed], service="server"):
    """Writes a checkpoint now. timestamp: nanoseconds since 1970, the same for all servers of a request."""

    timestamp: int | None = None


@dataclass
class GetServerStatus(Request[replies.ServerStatus], service="server", name="status"):
    """State and counts of the server; also before it is initialised."""
