# What a server makes of pushes: which it takes, when it applies them, and what it tells those that it drops.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..errors import ClusterError, Malformed, Stale
from ..messages import Wait
from ..process_log import ProcessLogger
from ..protocol import Push
from ..replies import Pushed
from ..values import BlockKey, MemberId
from .ledger import APPLIED, Ledger, Sender
from .parameter_shard import ParameterShard, ShardUpdate, mean, named, translate_errors
from .settings import ServerSettings
from .sync_barrier import SyncBarrier, WaitingPush

_log = ProcessLogger(__name__)


class Updates:
    """version: steps that were made, in sync mode; pushes that were applied, in the others. behind: how many versions
    behind it each push was made from, all together, in this life of the server; worst_behind: the most of one. A push
    is checked first, then applied as a whole."""

    def __init__(self, settings: ServerSettings):
        self.settings, self.version = settings, 0
        self.behind = self.worst_behind = 0
        self.ledger, self.barrier = Ledger(settings.trainers), SyncBarrier()

    def push(self, shards: Mapping[BlockKey, ParameterShard], request: Push) -> Pushed | Wait:
        """Takes a push: it is applied now, or in sync mode when all members have pushed its step."""
        sender = Sender(request.trainer, request.incarnation, request.step)
        if not self.ledger.admits(sender, request.membership):
            return Wait()
        if self.ledger.is_repeat(sender):
            return Pushed(repeated=True)
        if self.settings.mode != "sync":
            push = self._accepted(shards, sender, request)
            self._require_fresh(sender, self.version if request.version is None else request.version)
            self._apply([push], self.version + 1)
            return Pushed()
        early = self._reply_while_waiting(sender)
        if early is not None:
            return early
        push = self._accepted(shards, sender, request)
        self._require_current(sender)
        self.barrier.add(push)
        while pushes := self.barrier.complete(self.ledger.members):
            with _logged(pushes):
                self._apply(pushes, pushes[0].sender.step + 1)
        if self.barrier.of(sender.trainer) is push:  # its sender may use the arrays' memory again
            self.barrier.add(push._replace(updates=[update.copied() for update in push.updates]))
        return Pushed()

    def _require_fresh(self, sender: Sender, version: int) -> None:
        """Stale for a push that was made from a version too far behind."""
        behind = self.version - version
        self.behind += max(0, behind)  # below 0: it was made from a version that was lost
        self.worst_behind = max(self.worst_behind, behind)
        limit, trainers = self.settings.stale_limit, len(self.ledger.members)
        if self.settings.mode == "async" and limit is not None and behind > limit * trainers:
            self.ledger.settle(sender, Stale.kind)
            raise Stale(f"the push is {behind} updates behind, {limit} for each of {trainers} trainers are allowed")

    def _reply_while_waiting(self, sender: Sender) -> Pushed | Wait | None:
        """The reply to a sender whose push of a step waits here; None where none does."""
        waiting = self.barrier.of(sender.trainer)
        if waiting is None:
            return None
        if waiting.sender.incarnation < sender.incarnation:
            self._leave(waiting)
            return None
        if sender.step > waiting.sender.step:
            return Wait()
        self.ledger.repeated += 1
        return Pushed(repeated=True)

    def _require_current(self, sender: Sender) -> None:
        """Stale for a push of a step that the others have made."""
        if sender.step < self.version:
            self.ledger.settle(sender, Stale.kind)
            raise Stale(f"step {sender.step} was made without trainer {sender.trainer}, the next one is {self.version}")

    def _accepted(self, shards: Mapping[BlockKey, ParameterShard], sender: Sender, request: Push) -> WaitingPush:
        """A push that fits; it is counted as sent."""
        updates, rest = [], list(request.arrays)
        for block in named(shards, request.blocks):
            count = 2 if block.info.sparse else 1
            if len(rest) < count:
                raise Malformed(f"'{block.info.name}' has {len(rest)} arrays, it needs {count}")
            *rows, values = rest[:count]
            updates.append(block.take(values, *rows))
            del rest[:count]
        if rest:
            raise Malformed(f"there are {len(rest)} arrays more than the blocks need")
        self.ledger.sent += 1
        return WaitingPush(sender, updates, request.pass_number)

    def _apply(self, pushes: list[WaitingPush], version: int) -> None:
        """One step of each block's optimizer with the mean of the pushes."""
        by_block: dict[BlockKey, list[ShardUpdate]] = {}
        for push in pushes:
            for update in push.updates:
                by_block.setdefault(update.shard.key, []).append(update)
        # What an optimizer may still refuse is a table's rows: tables come first, before anything has changed.
        steps = sorted(by_block.values(), key=lambda updates: updates[0].rows is None)
        pass_number = max(push.pass_number for push in pushes)
        scale = self._delta_scale if self.settings.by_trainers else None
        became, done, self.version = ClusterError.kind, 0, version
        try:
            for updates in steps:
                shard, values, rows = mean(updates, len(pushes))
                with translate_errors(shard):
                    if scale is not None:
                        shard.native.apply_delta(values, scale)
                    else:
                        shard.native.set_pass(pass_number)
                        shard.native.update(values) if rows is None else shard.native.update_rows(rows, values)
                done += 1
            became = APPLIED
        except ClusterError as error:
            raise ClusterError(f"{error}; {done} of {len(steps)} blocks were changed") from None
        finally:
            for push in pushes:
                self.ledger.settle(push.sender, became)

    @property
    def _delta_scale(self) -> float:
        """What of a trainer's difference is added to the values."""
        return 1 / len(self.ledger.members) if self.settings.mode == "delta" else self.settings.elastic_alpha

    def set_members(self, membership: int, trainers: Sequence[MemberId]) -> bool:
        """membership rises with every change. What a trainer that is gone has pushed for a step that is not made yet is
        taken out. False for a membership that is no newer."""
        if not self.ledger.set_members(membership, trainers):
            return False
        for push in self.barrier.pushes():
            if self.ledger.has_left(push.sender):
                self._leave(push)
        while pushes := self.barrier.complete(self.ledger.members):
            with _logged(pushes):
                self._apply(pushes, pushes[0].sender.step + 1)
        return True

    def _leave(self, push: WaitingPush) -> None:
        self.barrier.remove(push.sender.trainer)
        self.ledger.settle(push.sender, Stale.kind)


@contextmanager
def _logged(pushes: list[WaitingPush]) -> Iterator[None]:
    """A step that can't be made is of all who pushed: it is in the log and in the counts."""
    try:
        yield
    except ClusterError:
        _log.exception("step %d could not be made", pushes[0].sender.step)
