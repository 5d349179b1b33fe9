# Exchange: how a collective trainer gets the mean of all gradients, and the state of the others.
from __future__ import annotations

import uuid
from collections.abc import Callable
from enum import Enum
from itertools import count
from typing import Any

from ..client import Ask, Client, required
from ..coordinator.meeting import FIRST, GIVE, GO_ON, LAST, LEFT, At
from ..wire import Header
from .flat import Flat
from .membership import Membership
from .training_state import TrainingState


class Outcome(Enum):
    """What became of a step. MEAN: the gradients are the mean of all trainers' now. NOTHING: nobody had one. DONE: this
    trainer was behind, and has the state of another one now, of which its gradient is a part. AGAIN: the same, but its
    gradient is no part of that, nor made from it."""

    MEAN, NOTHING, DONE, AGAIN = range(4)


class Exchange:
    """at: which state this trainer has, and which step begins with it; None before it has one. inside: whether the
    others wait for this trainer at each step. gradients: its own, which mean() makes all trainers'.

    The messages and the reasons are Meeting's; the parts of gradients and states go by the servers, each of which has
    the same share of them, so that a trainer sends and gets as many bytes as its gradients have, each way.
    """

    def __init__(self, membership: Membership, client: Client, servers: int, gradients: Flat, state: TrainingState):
        self._membership, self._client, self._servers = membership, client, servers
        self.gradients, self._state = gradients, state
        self.at: At | None = None
        self.inside = False
        self._asks = count()
        self._made: list[list[int]] = []  # whose gradients made the last step: [number, incarnation] of each

    def enter(self) -> bool:
        """Returns when this trainer has the state that the others have. False: it had that already."""
        lost: str | None = None
        while True:
            reply = self._ask("enter", has=self.at, lost=lost, layout=self._state.layout)
            at = At(*reply["at"])
            if reply["answer"] == FIRST:
                self.at = At(at.era, self._state.go_on())
                self._give()
            elif reply["answer"] != GO_ON and not self._take(reply["key"]):
                lost = reply["key"]
                continue
            else:
                self.at = at
            self.inside = True
            return bool(reply["answer"] != GO_ON)

    def mean(self, full: bool) -> Outcome:
        """Makes a step. full: whether this trainer has a gradient."""
        assert self.at is not None
        is_sent, is_part, step = False, False, self.at.step
        while True:
            if full and not is_sent:
                self._add()
                is_sent = True
            me, reply = self._me, self._ask("meet", at=self.at, full=full)
            if reply.get("answer") == GIVE:
                self._give()
                continue
            if "made" in reply:
                is_part = me in reply["made"]
                if not reply["made"] or self._get_mean(reply["made"]):
                    self.at, self._made = At(self.at.era, step + 1), reply["made"]
                    return Outcome.MEAN if reply["made"] else Outcome.NOTHING
            if self.enter():
                is_part = is_part or (self.at.step == step + 1 and me in self._made)
                return Outcome.DONE if is_part and self.at.step > step else Outcome.AGAIN
            is_sent = False

    @property
    def is_first(self) -> bool:
        """Whether this trainer is the first of those whose gradients made the last step."""
        return self._made[:1] == [self._me]

    def depart(self, when_last: Callable[[], None]) -> None:
        """The others go on without this trainer. when_last() is called where there is no other, so that the state of
        this one is the job's; whoever comes meanwhile waits."""
        done = False
        while (answer := self._ask("depart", at=self.at, done=done)["answer"]) != LEFT:
            if answer == GIVE:
                self._give()
            elif answer == LAST:
                when_last()
                done = True
            else:
                self.enter()
                done = False
        self.inside = False

    @property
    def _me(self) -> list[int]:
        return [self._membership.number, self._membership.incarnation]

    def _ask(self, name: str, **fields: Any) -> Header:
        return self._membership.ask(name, ask=next(self._asks), **fields)

    def _add(self) -> None:
        fields = {**self._membership.who, "serial": next(self._asks), "at": self.at}
        required(
            self._client.ask_all(
                [
                    Ask(f"server {index}", "add", fields, self.gradients.part(index, self._servers))
                    for index in range(self._servers)
                ]
            )
        )

    def _get_mean(self, of: list[list[int]]) -> bool:
        """False when a server does not have all parts any more; nothing has changed then."""
        replies = required(
            self._client.ask_all([Ask(f"server {index}", "mean", {"at": self.at, "of": of}) for index in range(self._servers)])
        )
        if any(header["missing"] for header, _ in replies):
            return False
        for index, (_, arrays) in enumerate(replies):
            self.gradients.take(index, self._servers, arrays)
        return True

    def _give(self) -> None:
        key, about = uuid.uuid4().hex, {**self._state.about(), "made": self._made}
        required(
            self._client.ask_all(
                [
                    Ask(f"server {index}", "put_state", {"key": key, "at": self.at, "about": about}, arrays)
                    for index, arrays in enumerate(self._state.given(self._servers))
                ]
            )
        )
        self._ask("given", at=self.at, key=key)

    def _take(self, key: str) -> bool:
        """False when a server does not have its part any more."""
        replies = required(
            self._client.ask_all([Ask(f"server {index}", "get_state", {"key": key}) for index in range(self._servers)])
        )
        if any(header["missing"] for header, _ in replies):
            return False
        about = replies[0][0]["about"]
        self._state.take([arrays for _, arrays in replies], about)
        self._made = about["made"]
        return True
