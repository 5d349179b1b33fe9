# ParameterServer: holds blocks of parameters, each with its optimizer; trainers push gradients and pull values.
from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..._core import printable
from ...errors import shown
from ..errors import AlreadyInitialised, Malformed, NotInitialised, StaleToken, StorageError, WrongJob
from ..messages import Reply, Request, ServerReply, Wait
from ..process_log import ProcessLogger
from ..protocol import Checkpoint, Compare, FinishInit, GetServerStatus, Init, Pull, Push, PushDelta, SetMembers
from ..replies import Checkpointed, Compared, Done, Pulled, Pushed, ServerStatus
from ..service import Answering, Later
from ..values import BlockKey, CheckpointStatus, MemberId, NewBlock, PushCounts
from ..wire import field
from .checkpoint_writer import CheckpointWriter, Work, in_thread
from .parameter_shard import ParameterShard, Read, digest, reads_of, same_block
from .push_plan import PushPlan, PushPlans
from .server_checkpoint import ServerCheckpoints
from .settings import BY_TRAINERS, ServerSettings
from .updates import Updates

_log = ProcessLogger(__name__)


class ParameterServer(Answering):
    """Server `index` of a job. With a directory it resumes from its newest checkpoint there, and writes checkpoints.

    It handles one request at a time and never blocks: the caller calls handle() for each message, without concurrency,
    and tick() periodically. Replies have copies; requests are validated before anything changes. Checkpoints are written
    beside the requests, by what start() begins.
    """

    def __init__(
        self,
        index: int,
        settings: ServerSettings,
        directory: str | None = None,
        clock: Callable[[], float] = time.time,
        start: Callable[[Work], None] = in_thread,
    ):
        if type(index) is not int or not 0 <= index < settings.servers:
            raise Malformed(f"server index {shown(index)} is not in [0, {settings.servers})")
        self.index, self.settings, self.life = index, settings, uuid.uuid4().hex
        self.initialised = False
        self.missed = 0  # a membership of which it was told that can't be reached from the one that it knows
        self._in_use = False  # whether a trainer has pulled or changed the parameters
        self._shards: dict[BlockKey, ParameterShard] = {}
        self._updates = Updates(settings)
        self._plans = PushPlans()
        self._received = self._given = 0  # bytes of arrays
        self._clock = clock
        self._tried = self._period()
        self._asked_for: tuple[int, int] | None = None  # token and version of the last requested checkpoint
        self._asked: Checkpoint | None = None  # the request for it, until it has its reply
        self._writer = (
            CheckpointWriter(ServerCheckpoints(directory, settings.job, index, settings.servers), clock, start)
            if directory
            else None
        )
        super().__init__(
            settings.job,
            {
                Init: self._init,
                FinishInit: self._finish_init,
                PushDelta if settings.by_trainers else Push: self._push,
                Pull: self._pull,
                Compare: self._compare,
                SetMembers: self.set_members,
                Checkpoint: self._checkpoint,
                GetServerStatus: self.status,
            },
        )
        self._recover()

    def _answered(self, request: Request[Any], reply: Reply) -> None:
        if isinstance(reply, ServerReply):
            reply.life, reply.token, reply.version = self.life, self.token, self._updates.version
        for array in getattr(request, "arrays", ()):
            self._received += array.nbytes
        for array in getattr(reply, "arrays", ()):
            self._given += array.nbytes

    @property
    def token(self) -> int | None:
        """The token of the trainer that initialised the parameters; None before all of them have arrived."""
        return self._updates.token if self.initialised else None

    def tick(self) -> None:
        """Begins a checkpoint when another period of checkpoint_seconds has begun: at the same time on all servers, so
        that their versions are close. Disk errors are logged and counted, and training continues. Without changes since,
        a requested checkpoint stays the newest: it belongs to a set of all servers."""
        changed = (self._updates.token, self._updates.version) != self._asked_for
        if self.initialised and self._writer and not self._writer.writes and self._period() != self._tried and changed:
            self._begin_checkpoint(self._writer)
        self.release()

    def rest(self) -> None:
        """Returns when no checkpoint is written any more."""
        if self._writer:
            self._writer.await_end()

    def _period(self) -> int:
        return int(self._clock() // self.settings.checkpoint_seconds)

    def _init(self, request: Init) -> Done:
        """A newer token restarts the initialisation: its initialiser sends all blocks. This also holds when this server
        has all of its blocks but the previous initialiser died before other servers had theirs: trainers pull and push
        only after all servers are initialised, so the first pull or push ends the initialisation."""
        self._require_token(request.token)
        shards = [self._new_block(block, array) for block, array in zip(request.blocks, request.arrays)]
        self._reset(request.token)
        self._shards.update((shard.key, shard) for shard in shards)
        self._plans.clear()
        return Done()

    def _new_block(self, new: NewBlock, value: Any) -> ParameterShard:
        info, block = new.info, new.block
        if block.server != self.index:
            raise Malformed(f"block {block.number} of '{info.name}' is for server {block.server}, this is {self.index}")
        if info.sparse and self.settings.by_trainers:
            raise Malformed(f"'{info.name}' is a table, which {self.settings.mode} mode does not support")
        return ParameterShard(info, block, new.config, value)

    def _finish_init(self, request: FinishInit) -> Done | Wait:
        """Ends the initialisation and writes the first checkpoint, for which the initialiser waits. Can be repeated."""
        if self.initialised and request.token == self._updates.token:
            return Wait() if self._writer and self._writer.writes else Done(repeated=True)
        self._require_token(request.token)
        have = len(self._shards) if request.token == self._updates.token else 0
        if request.count != have:
            raise NotInitialised(f"{have} blocks have arrived, the initialiser sent {request.count}")
        if self._writer and self._writer.writes:  # blocks of an initialiser that died
            return Wait()
        self._reset(request.token)
        self.initialised, self._updates.version = True, request.version
        if self._writer:
            self._begin_checkpoint(self._writer)
        return Wait() if self._writer and self._writer.writes else Done()

    def _require_token(self, token: int) -> None:
        if self.initialised and (self._in_use or token <= self._updates.token):
            raise AlreadyInitialised("the server has its parameters")
        if token < self._updates.token:
            raise StaleToken(f"token {token} has expired: the initialiser has {self._updates.token}")

    def _reset(self, token: int) -> None:
        if token > self._updates.token:
            self._updates.token, self._shards, self.initialised = token, {}, False
            self._plans.clear()

    def _push(self, request: Push) -> Pushed | Wait | Later:
        if not self.initialised:
            return Wait()
        plan = self._plans.of(self._shards, request) if self.settings.mode == "async" else None
        if plan is not None and plan.fits(request.arrays):
            return self._push_as_planned(request, plan)
        own = len(request.arrays) - len(request.rows)
        reads = reads_of(self._shards, request.wanted, request.rows, request.arrays[own:])
        pushed = self._updates.push(self._shards, request, request.arrays[:own])
        self._in_use = True
        if pushed is None:
            return Later(partial(self._push, request))
        return self._after_push(request, pushed, reads)

    def _push_as_planned(self, request: Push, plan: PushPlan) -> Pushed | Later:
        pushed = self._updates.push_as_planned(request, plan)
        self._in_use = True
        if pushed is None or self._updates.version < request.min_version:
            return Later(partial(self._push, request))
        pushed.arrays = plan.read(request.arrays, request.memory)
        return pushed

    def _after_push(self, request: Push, pushed: Pushed, reads: Sequence[Read]) -> Pushed | Later:
        """The reply to a push that was accepted, with the values of min_version."""
        if self._updates.version < request.min_version:
            self._updates.require_member(request)
            return Later(partial(self._after_push, request, pushed, reads))
        pushed.arrays = [read() for read in reads]
        return pushed

    def _pull(self, request: Pull) -> Pulled | Wait | Later:
        if not self.initialised:
            return Wait()
        if self._updates.version < request.min_version:
            return Later(partial(self._pull, request))
        self._in_use = True
        reads = reads_of(self._shards, request.blocks, request.rows, request.arrays, request.average, request.parts)
        return Pulled([read() for read in reads])

    def _compare(self, request: Compare) -> Compared:
        self._require_initialised()
        blocks = [same_block(self._shards, one.info, one.block) for one in request.blocks]
        other = {block.info.name for block, one in zip(blocks, request.blocks) if digest(block.config) != one.digest}
        return Compared(sorted(other))

    def set_members(self, change: SetMembers) -> Done:
        """Sets the trainers; repeated: this membership is not newer, or begins with one that is not known here."""
        known = self._updates.push_log
        trainers = change.trainers
        if change.since is not None:
            if change.since != known.membership:
                self.missed = max(self.missed, change.membership)
                return Done(repeated=True)
            left = {*change.gone, *(one.number for one in trainers)}
            stay = [MemberId(number, life) for number, life in known.members.items() if number not in left and life is not None]
            trainers = trainers + stay
        changed = self._updates.set_members(change.membership, trainers)
        self.release()
        return Done(repeated=not changed)

    @property
    def membership(self) -> int:
        """The membership whose trainers it knows."""
        return self._updates.push_log.membership

    def progress(self) -> tuple[int, int]:
        return self._updates.version, self._updates.push_log.membership

    def _require_initialised(self) -> None:
        if not self.initialised:
            raise NotInitialised(f"server {self.index} has no parameters yet")

    def _checkpoint(self, request: Checkpoint) -> Checkpointed | Wait:
        """Begins a checkpoint; the reply waits for its end."""
        self._require_initialised()
        if not self._writer:
            raise StorageError(f"server {self.index} has no directory for checkpoints")
        if self._writer.writes:
            return Wait()
        if request != self._asked:
            self._begin_checkpoint(self._writer, request)
            self._asked, self._asked_for = request, (self._updates.token, self._updates.version)
            if self._writer.writes:
                return Wait()
        self._asked = None
        return Checkpointed(self._writer.result())

    def _begin_checkpoint(self, writer: CheckpointWriter, request: Checkpoint | None = None) -> None:
        state = {
            "mode": self.settings.mode,
            "token": self._updates.token,
            "version": self._updates.version,
            "ledger": self._updates.push_log.state(len(self._updates.barrier)),
        }
        self._tried = self._period()
        writer.begin(state, self._shards.values(), request.timestamp if request else None, log=request is None)

    def _recover(self) -> None:
        found = self._writer.checkpoints.recover() if self._writer else None
        if self._writer is None or found is None:
            return
        facts, shards = found
        self._require_mode(field(facts, "mode", str, self.settings.mode))
        self._updates.token, self._updates.version = field(facts, "token", int), field(facts, "version", int)
        self._updates.push_log.restore(field(facts, "ledger", dict))
        self._in_use = self._updates.version > 0
        self._shards = {shard.key: shard for shard in shards}
        words = ("uuid", "number", "timestamp", "version")
        self._writer.status.recovered = {word: facts[word] for word in words}
        self.initialised = True

    def _require_mode(self, mode: str) -> None:
        """WrongJob for checkpoints of a mode in which others optimize: their blocks have other optimizers."""
        if (mode in BY_TRAINERS) != self.settings.by_trainers:
            raise WrongJob(
                f"the checkpoints of server {self.index} in the job's directory are of mode {printable(mode)}, this job is of "
                f"mode {self.settings.mode}, in which {'trainers' if self.settings.by_trainers else 'servers'} optimize: give it "
                "its own directory; `paddle-mini checkpoint convert` writes the parameters to begin with"
            )

    def status(self, request: GetServerStatus | None = None) -> ServerStatus:
        """State and counts of the server; also before it is initialised."""
        shards, push_log = self._shards.values(), self._updates.push_log
        return ServerStatus(
            index=self.index,
            mode=self.settings.mode,
            initialised=self.initialised,
            blocks=len(shards),
            bytes=sum((one.block.end - one.block.begin) * one.info.unit_bytes for one in shards),
            membership=push_log.membership,
            members=list(push_log.members.items()),
            pushes=PushCounts(**push_log.counts(), waiting=len(self._updates.barrier)),
            checkpoints=self._writer.status if self._writer else CheckpointStatus(),
            received=self._received,
            given=self._given,
            behind=self._updates.behind,
            worst_behind=self._updates.worst_behind,
            life=self.life,
            version=self._updates.version,
        )
