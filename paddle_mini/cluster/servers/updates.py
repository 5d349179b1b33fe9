# Updates: decides which pushes a server accepts and when it applies them.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from ..errors import ClusterError, Gone, Malformed, Stale
from ..process_log import ProcessLogger
from ..protocol import Push
from ..replies import Pushed
from ..values import BlockKey, MemberId
from .deduplication_log import APPLIED, DeduplicationLog, Sender
from .parameter_shard import ParameterShard, ShardUpdate, mean, named
from .push_plan import PushPlan
from .settings import ServerSettings
from .sync_barrier import SyncBarrier, WaitingPush

_log = ProcessLogger(__name__)


class Updates:
    """token: of the initialisation of the parameters. version: number of steps in sync mode, of applied pushes in the
    others, and of those that the initialiser knew. behind: sum over the pushes, since the
    server started, of the versions by which their parameters were outdated; worst_behind: the maximum. A push is
    validated first, then applied as a whole."""

    def __init__(self, settings: ServerSettings):
        self.settings, self.token, self.version = settings, 0, 0
        self.behind = self.worst_behind = 0
        self.push_log, self.barrier = DeduplicationLog(settings.trainers), SyncBarrier()

    def push(self, shards: Mapping[BlockKey, ParameterShard], request: Push, arrays: Sequence[np.ndarray]) -> Pushed | None:
        """Accepts a push and applies it now, or in sync mode when all members have pushed its step. arrays: those of
        its gradients. None: nothing has changed, and the push is to be tried again when something has."""
        sender = Sender(request.trainer, request.incarnation, request.step)
        if not self.push_log.admits(sender, request.membership):
            return None
        if self.push_log.is_repeat(sender):
            return Pushed(repeated=True)
        if self.settings.mode != "sync":
            push = self._accepted(shards, sender, request, arrays)
            self._require_fresh(sender, request)
            self._apply([push], self.version + 1)
            return Pushed()
        waiting = self._waiting(sender)
        if waiting is not None and sender.step > waiting.step:
            return None
        if waiting is not None:
            self.push_log.repeated += 1
            return Pushed(repeated=True)
        push = self._accepted(shards, sender, request, arrays)
        self._require_current(sender)
        self.barrier.add(push)
        while pushes := self.barrier.complete(self.push_log.members):
            with _logged(pushes):
                self._apply(pushes, pushes[0].sender.step + 1)
        if self.barrier.of(sender.trainer) is push:  # its sender may reuse the arrays' memory
            self.barrier.add(push._replace(updates=[update.copied() for update in push.updates]))
        return Pushed()

    def push_as_planned(self, request: Push, plan: PushPlan) -> Pushed | None:
        """As push() in mode async, of a push whose arrays fit the plan."""
        sender = Sender(request.trainer, request.incarnation, request.step)
        if not self.push_log.admits(sender, request.membership):
            return None
        if self.push_log.is_repeat(sender):
            return Pushed(repeated=True)
        self.push_log.sent += 1
        self._require_fresh(sender, request)
        became, self.version = ClusterError.kind, self.version + 1
        try:
            plan.apply(request.arrays, request.pass_number)
            became = APPLIED
        finally:
            self.push_log.settle(sender, became)
        return Pushed()

    def _require_fresh(self, sender: Sender, request: Push) -> None:
        """Stale for a push whose parameters are too many versions old, or were lost in a restart: those of their initialiser
        may have this push."""
        if request.token not in (None, self.token):
            self.push_log.settle(sender, Stale.kind)
            raise Stale(f"the parameters of step {sender.step} of trainer {sender.trainer} were lost when the server restarted")
        behind = 0 if request.version is None else self.version - request.version
        self.behind += max(0, behind)  # below 0: its version was lost in a restart
        self.worst_behind = max(self.worst_behind, behind)
        limit, trainers = self.settings.stale_limit, len(self.push_log.members)
        if self.settings.mode == "async" and limit is not None and behind > limit * trainers:
            self.push_log.settle(sender, Stale.kind)
            raise Stale(f"the push is {behind} updates behind, {limit} for each of {trainers} trainers are allowed")

    def _waiting(self, sender: Sender) -> Sender | None:
        """The push of this incarnation of a trainer that waits here; that of an earlier one is removed."""
        waiting = self.barrier.of(sender.trainer)
        if waiting is not None and waiting.sender.incarnation < sender.incarnation:
            self._leave(waiting)
            return None
        return None if waiting is None else waiting.sender

    def require_member(self, request: Push) -> None:
        """Gone if the sender of a push that was accepted has left the job or restarted since."""
        sender = Sender(request.trainer, request.incarnation, request.step)
        if self.push_log.has_left(sender):
            raise Gone(f"trainer {sender.trainer} has left the job, or was lost, before step {sender.step} was made")

    def _require_current(self, sender: Sender) -> None:
        """Stale for a push of a step that is complete."""
        if sender.step < self.version:
            self.push_log.settle(sender, Stale.kind)
            raise Stale(f"step {sender.step} was made without trainer {sender.trainer}, the next one is {self.version}")

    def _accepted(
        self, shards: Mapping[BlockKey, ParameterShard], sender: Sender, request: Push, arrays: Sequence[np.ndarray]
    ) -> WaitingPush:
        """A validated push; counts it as sent."""
        updates, rest = [], list(arrays)
        for block in named(shards, request.blocks):
            count = 2 if block.info.sparse else 1
            if len(rest) < count:
                raise Malformed(f"'{block.info.name}' has {len(rest)} arrays, it needs {count}")
            *rows, values = rest[:count]
            updates.append(block.take(values, *rows))
            del rest[:count]
        if rest:
            raise Malformed(f"there are {len(rest)} more arrays than the blocks need")
        self.push_log.sent += 1
        return WaitingPush(sender, updates, request.pass_number)

    def _apply(self, pushes: list[WaitingPush], version: int) -> None:
        """Makes one step of each block's optimizer with the mean of the pushes."""
        steps = [[update] for update in pushes[0].updates] if len(pushes) == 1 else _by_block(pushes)
        # Only updates of table rows can still fail: tables come first, before anything has changed.
        steps.sort(key=_is_dense)
        pass_number = max(push.pass_number for push in pushes)
        scale = self._delta_scale if self.settings.by_trainers else None
        became, done, self.version = ClusterError.kind, 0, version
        try:
            for updates in steps:
                shard, values, rows, _ = mean(updates, len(pushes))
                shard.apply(values, rows, pass_number) if scale is None else shard.add(values, scale)
                done += 1
            became = APPLIED
        except ClusterError as error:
            raise ClusterError(f"{error}; {done} of {len(steps)} blocks were changed") from None
        finally:
            for push in pushes:
                self.push_log.settle(push.sender, became)

    @property
    def _delta_scale(self) -> float:
        """The fraction of a trainer's difference that is added to the values."""
        return 1 / len(self.push_log.members) if self.settings.mode == "delta" else self.settings.elastic_alpha

    def set_members(self, membership: int, trainers: Sequence[MemberId]) -> bool:
        """Sets the members; removes waiting pushes of trainers that left. False if this membership is not newer; it
        increases with every change."""
        if not self.push_log.set_members(membership, trainers):
            return False
        for push in self.barrier.pushes():
            if self.push_log.has_left(push.sender):
                self._leave(push)
        while pushes := self.barrier.complete(self.push_log.members):
            with _logged(pushes):
                self._apply(pushes, pushes[0].sender.step + 1)
        return True

    def _leave(self, push: WaitingPush) -> None:
        self.barrier.remove(push.sender.trainer)
        self.push_log.settle(push.sender, Stale.kind)


def _by_block(pushes: Sequence[WaitingPush]) -> list[list[ShardUpdate]]:
    found: dict[BlockKey, list[ShardUpdate]] = {}
    for push in pushes:
        for update in push.updates:
            found.setdefault(update.shard.key, []).append(update)
    return list(found.values())


def _is_dense(updates: list[ShardUpdate]) -> bool:
    return updates[0].rows is None


@contextmanager
def _logged(pushes: list[WaitingPush]) -> Iterator[None]:
    """Logs a failed step, which concerns all senders, in place of raising it to one of them."""
    try:
        yield
    except ClusterError:
        _log.exception("step %d could not be made", pushes[0].sender.step)
