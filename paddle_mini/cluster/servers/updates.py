# What a server makes of pushes: which it takes, when it applies them, and what it tells those that it drops.
from __future__ import annotations

from collections.abc import Mapping

from ..errors import ClusterError, Malformed, NotFinite, Stale
from ..part_log import PartLogger
from ..wire import Arrays, Header, Reply, field
from .held import Held, Key, Part, mean, named
from .ledger import Ledger, Sender
from .rounds import Push, Rounds
from .settings import ServerSettings

_log = PartLogger(__name__)


class Updates:
    """version: steps that were made, in sync mode; pushes that were applied, in the others. behind: how many versions
    behind it each push was made from, all together, in this life of the server; worst_behind: the most of one. A push
    is checked first, then applied as a whole."""

    def __init__(self, settings: ServerSettings):
        self.settings, self.version = settings, 0
        self.behind = self.worst_behind = 0
        self.ledger, self.rounds = Ledger(settings.trainers), Rounds()

    def push(self, held: Mapping[Key, Held], asked: Header, arrays: Arrays) -> Reply:
        """ "trainer", "incarnation", "step" and "membership" say whose push this is; "blocks" are [name, number] pairs.
        Arrays: one for a dense block; rows and values for a table. "version": of the pull that it was made from.
        "pass": over the data; a step of several pushes is in the latest of theirs."""
        sender = Sender(*(field(asked, word, int) for word in ("trainer", "incarnation", "step")))
        behind = self.version - field(asked, "version", int, self.version)
        if not self.ledger.admits(sender, field(asked, "membership", int, 0)):
            return {"wait": True}, []
        if self.ledger.is_repeat(sender):
            return {"repeated": True}, []
        if self.settings.mode == "sync":
            return self._push_in_step(held, sender, asked, arrays)
        push = self._taken(held, sender, asked, arrays)
        self.behind += max(0, behind)  # below 0: it was made from a version that was lost
        self.worst_behind = max(self.worst_behind, behind)
        limit, trainers = self.settings.stale_limit, len(self.ledger.members)
        if self.settings.mode == "async" and limit is not None and behind > limit * trainers:
            self.ledger.settle(sender, Stale.kind)
            raise Stale(f"the push is {behind} updates behind, {limit} for each of {trainers} trainers are allowed")
        self._require_finite(push)
        self._apply([push], self.version + 1)
        return {}, []

    def _push_in_step(self, held: Mapping[Key, Held], sender: Sender, asked: Header, arrays: Arrays) -> Reply:
        waiting = self.rounds.of(sender.trainer)
        if waiting and waiting.sender.incarnation < sender.incarnation:
            self._leave(waiting)
        elif waiting and sender.step > waiting.sender.step:
            return {"wait": True}, []
        elif waiting:
            self.ledger.repeated += 1
            return {"repeated": True}, []
        push = self._taken(held, sender, asked, arrays)
        if sender.step < self.version:
            self.ledger.settle(sender, Stale.kind)
            raise Stale(f"step {sender.step} was made without trainer {sender.trainer}, the next one is {self.version}")
        try:
            self._require_finite(push)
        except NotFinite:
            self.rounds.add(Push(sender, None))  # the step is made without it
            self._end_steps()
            raise
        self.rounds.add(push)
        self._end_steps()
        if self.rounds.of(sender.trainer) is push:  # its sender may use the arrays' memory again
            self.rounds.add(push._replace(parts=[part.copied() for part in push.parts or []]))
        return {}, []

    def _end_steps(self) -> None:
        """Makes each step that all members have pushed."""
        while pushes := self.rounds.complete(self.ledger.members):
            step = pushes[0].sender.step
            try:
                self._apply([push for push in pushes if push.parts is not None], step + 1)
            except ClusterError:  # of all who pushed: it is in the log and in the counts
                _log.exception("step %d could not be made", step)

    def _taken(self, held: Mapping[Key, Held], sender: Sender, asked: Header, arrays: Arrays) -> Push:
        """A push that fits; it is counted as sent."""
        parts, rest, pass_number = [], list(arrays), field(asked, "pass", int, 0)
        for block in named(held, field(asked, "blocks", list)):
            count = 2 if block.info.sparse else 1
            if len(rest) < count:
                raise Malformed(f"'{block.info.name}' has {len(rest)} arrays, it needs {count}")
            *rows, values = rest[:count]
            parts.append(block.take(values, *rows))
            del rest[:count]
        if rest:
            raise Malformed(f"there are {len(rest)} arrays more than the blocks need")
        self.ledger.sent += 1
        return Push(sender, parts, pass_number)

    def _require_finite(self, push: Push) -> None:
        bad = next((part for part in push.parts or [] if not part.is_finite()), None)
        if bad is not None:
            self.ledger.settle(push.sender, NotFinite.kind)
            raise NotFinite(
                f"what trainer {push.sender.trainer} pushes for step {push.sender.step} is not finite in "
                f"'{bad.held.info.name}', block {bad.held.block.number}: none of it is applied"
            )

    def _apply(self, pushes: list[Push], version: int) -> None:
        """One step of each block's optimizer with the mean of the pushes."""
        by_block: dict[Key, list[Part]] = {}
        for push in pushes:
            for part in push.parts or []:
                by_block.setdefault(part.held.key, []).append(part)
        # What an optimizer may still refuse is a table's rows: tables come first, before anything has changed.
        steps = sorted(by_block.values(), key=lambda parts: parts[0].rows is None)
        pass_number = max((push.pass_number for push in pushes), default=0)
        became, done, self.version = ClusterError.kind, 0, version
        try:
            for parts in steps:
                self._step(mean(parts, len(pushes)), pass_number)
                done += 1
            became = "applied"
        except ClusterError as error:
            raise ClusterError(f"{error}; {done} of {len(steps)} blocks were changed") from None
        finally:
            for push in pushes:
                self.ledger.settle(push.sender, became)

    def _step(self, part: Part, pass_number: int) -> None:
        if self.settings.mode == "delta":
            part.add(1 / len(self.ledger.members))
        elif self.settings.mode == "elastic":
            part.add(self.settings.elastic_alpha)
        else:
            part.update(pass_number)

    def set_members(self, asked: Header) -> bool:
        """ "membership" rises with every change, "trainers" are [number, incarnation] pairs. What a trainer that is gone
        has pushed for a step that is not made yet is taken out. False for a membership that is no newer."""
        if not self.ledger.set_members(field(asked, "membership", int), field(asked, "trainers", list)):
            return False
        for push in self.rounds.pushes():
            if self.ledger.is_left_by(push.sender):
                self._leave(push)
        self._end_steps()
        return True

    def _leave(self, push: Push) -> None:
        self.rounds.remove(push.sender.trainer)
        if push.parts is not None:
            self.ledger.settle(push.sender, Stale.kind)
