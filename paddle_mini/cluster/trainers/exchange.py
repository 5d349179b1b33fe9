# Exchange: how a collective trainer gets the mean of all gradients, and the state of the others.
from __future__ import annotations

import uuid
from collections.abc import Callable
from enum import Enum
from itertools import count

from ..client import Ask, Client, required
from ..protocol import Add, Depart, Enter, GetMean, GetState, Given, Meet, PutState
from ..values import At, DepartAnswer, EnterAnswer, Life, MeetAnswer
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
        self._made: list[Life] = []  # whose gradients made the last step

    def enter(self) -> bool:
        """Returns when this trainer has the state that the others have. False: it had that already."""
        lost: str | None = None
        while True:
            reply = self._membership.ask(Enter, ask=next(self._asks), has=self.at, lost=lost, layout=self._state.layout)
            if reply.answer is EnterAnswer.FIRST:
                self.at = At(reply.at.era, self._state.go_on())
                self._give()
            elif reply.answer is EnterAnswer.TAKE and not self._take(reply.key):
                lost = reply.key
                continue
            else:
                self.at = reply.at
            self.inside = True
            return reply.answer is not EnterAnswer.GO_ON

    def mean(self, full: bool) -> Outcome:
        """Makes a step. full: whether this trainer has a gradient."""
        assert self.at is not None
        is_sent, is_part, step = False, False, self.at.step
        while True:
            if full and not is_sent:
                self._add()
                is_sent = True
            me = self._membership.life
            reply = self._membership.ask(Meet, ask=next(self._asks), at=self.at, full=full)
            if reply.answer is MeetAnswer.GIVE:
                self._give()
                continue
            if reply.answer is MeetAnswer.MADE:
                is_part = me in reply.made
                if not reply.made or self._get_mean(reply.made):
                    self.at, self._made = At(self.at.era, step + 1), reply.made
                    return Outcome.MEAN if reply.made else Outcome.NOTHING
            if self.enter():
                is_part = is_part or (self.at.step == step + 1 and me in self._made)
                return Outcome.DONE if is_part and self.at.step > step else Outcome.AGAIN
            is_sent = False

    @property
    def is_first(self) -> bool:
        """Whether this trainer is the first of those whose gradients made the last step."""
        return self._made[:1] == [self._membership.life]

    def depart(self, when_last: Callable[[], None]) -> None:
        """The others go on without this trainer. when_last() is called where there is no other, so that the state of
        this one is the job's; whoever comes meanwhile waits."""
        done = False
        while (answer := self._depart(done)) is not DepartAnswer.LEFT:
            if answer is DepartAnswer.GIVE:
                self._give()
            elif answer is DepartAnswer.LAST:
                when_last()
                done = True
            else:
                self.enter()
                done = False
        self.inside = False

    def _depart(self, done: bool) -> DepartAnswer:
        return self._membership.ask(Depart, ask=next(self._asks), at=self.at, done=done).answer

    def _add(self) -> None:
        assert self.at is not None
        serial = next(self._asks)
        required(
            self._client.ask_all(
                [
                    Ask(
                        f"server {index}", Add(*self._membership.life, serial, self.at, self.gradients.part(index, self._servers))
                    )
                    for index in range(self._servers)
                ]
            )
        )

    def _get_mean(self, of: list[Life]) -> bool:
        """False when a server does not have all parts any more; nothing has changed then."""
        assert self.at is not None
        means = required(self._client.ask_all([Ask(f"server {index}", GetMean(self.at, of)) for index in range(self._servers)]))
        if any(mean.missing for mean in means):
            return False
        for index, mean in enumerate(means):
            self.gradients.take(index, self._servers, mean.arrays)
        return True

    def _give(self) -> None:
        assert self.at is not None
        key, about, at = uuid.uuid4().hex, self._state.about(self._made), self.at
        required(
            self._client.ask_all(
                [
                    Ask(f"server {index}", PutState(key, at, about, arrays))
                    for index, arrays in enumerate(self._state.given(self._servers))
                ]
            )
        )
        self._membership.ask(Given, ask=next(self._asks), at=at, key=key)

    def _take(self, key: str) -> bool:
        """False when a server does not have its part any more."""
        shares = required(self._client.ask_all([Ask(f"server {index}", GetState(key)) for index in range(self._servers)]))
        if any(share.state is None for share in shares):
            return False
        self._state.take([share.arrays for share in shares], shares[0].state)
        self._made = shares[0].state.made
        return True
