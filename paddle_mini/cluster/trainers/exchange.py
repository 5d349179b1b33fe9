# Exchange: all-reduce of gradients over the servers, and transfer of the training state, in collective mode.
from __future__ import annotations

import uuid
from collections.abc import Callable
from enum import Enum
from itertools import count

from ..client import Call, Client, required
from ..collective_protocol import Add, GetMean, GetState, PutState
from ..protocol import Arrive, JoinRendezvous, LeaveRendezvous, StateStored
from ..values import ArriveAnswer, JoinAnswer, LeaveAnswer, MemberId, StepId
from .flat_buffer import FlatBuffer
from .membership import Membership
from .training_state import TrainingState


class Outcome(Enum):
    """Result of a step. MEAN: the buffer has the mean of all trainers' gradients. NOTHING: no trainer had a gradient.
    DONE: this trainer was behind and has loaded another one's state, to which its gradient has contributed. AGAIN: the
    same, but without its gradient, which it must compute again."""

    MEAN, NOTHING, DONE, AGAIN = range(4)


class Exchange:
    """step_id: identifies this trainer's state and the step that begins with it; None before it has one. inside:
    whether the others wait for this trainer at each step. gradients: its own, which mean() replaces by the mean.

    See Rendezvous for the protocol. Each server reduces an equal share of the gradients, so a trainer sends and
    receives as many bytes as its gradients have.
    """

    def __init__(self, membership: Membership, client: Client, servers: int, gradients: FlatBuffer, state: TrainingState):
        self._membership, self._client, self._servers = membership, client, servers
        self.gradients, self._state = gradients, state
        self.step_id: StepId | None = None
        self.inside = False
        self._serials = count()
        self._contributors: list[MemberId] = []  # those of the last step

    def join(self) -> bool:
        """Returns when this trainer has the common state. False: it had this state already."""
        lost: str | None = None
        while True:
            reply = self._membership.request(
                JoinRendezvous, serial=next(self._serials), has=self.step_id, lost=lost, layout=self._state.layout
            )
            if reply.answer is JoinAnswer.FIRST:
                self.step_id = StepId(reply.step_id.epoch, self._state.resume())
                self._store_state()
            elif reply.answer is JoinAnswer.LOAD and not self._load_state(reply.key):
                lost = reply.key
                continue
            else:
                self.step_id = reply.step_id
            self.inside = True
            return reply.answer is not JoinAnswer.CONTINUE

    def mean(self, has_gradient: bool) -> Outcome:
        """Makes a step. has_gradient: whether this trainer has a gradient."""
        assert self.step_id is not None
        is_sent, is_part, step = False, False, self.step_id.step
        while True:
            if has_gradient and not is_sent:
                self._add()
                is_sent = True
            me = self._membership.life
            reply = self._membership.request(Arrive, serial=next(self._serials), step_id=self.step_id, has_gradient=has_gradient)
            if reply.answer is ArriveAnswer.STORE:
                self._store_state()
                continue
            if reply.answer is ArriveAnswer.COMPLETE:
                is_part = me in reply.contributors
                if not reply.contributors or self._get_mean(reply.contributors):
                    self.step_id, self._contributors = StepId(self.step_id.epoch, step + 1), reply.contributors
                    return Outcome.MEAN if reply.contributors else Outcome.NOTHING
            if self.join():
                is_part = is_part or (self.step_id.step == step + 1 and me in self._contributors)
                return Outcome.DONE if is_part and self.step_id.step > step else Outcome.AGAIN
            is_sent = False

    @property
    def is_first(self) -> bool:
        """Whether this trainer is the first contributor of the last step."""
        return self._contributors[:1] == [self._membership.life]

    def leave(self, when_last: Callable[[], None]) -> None:
        """Leaves the rendezvous. when_last() is called if no other member is left, so that the job's state is this
        trainer's; trainers that join meanwhile wait."""
        done = False
        while (answer := self._leave_once(done)) is not LeaveAnswer.LEFT:
            if answer is LeaveAnswer.STORE:
                self._store_state()
            elif answer is LeaveAnswer.LAST:
                when_last()
                done = True
            else:
                self.join()
                done = False
        self.inside = False

    def _leave_once(self, done: bool) -> LeaveAnswer:
        return self._membership.request(LeaveRendezvous, serial=next(self._serials), step_id=self.step_id, done=done).answer

    def _add(self) -> None:
        assert self.step_id is not None
        serial = next(self._serials)
        required(
            self._client.request_all(
                [
                    Call(
                        f"server {index}",
                        Add(*self._membership.life, serial, self.step_id, self.gradients.share(index, self._servers)),
                    )
                    for index in range(self._servers)
                ]
            )
        )

    def _get_mean(self, of: list[MemberId]) -> bool:
        """False if a server has lost a contribution; then nothing changes."""
        assert self.step_id is not None
        means = required(
            self._client.request_all([Call(f"server {index}", GetMean(self.step_id, of)) for index in range(self._servers)])
        )
        if any(mean.missing for mean in means):
            return False
        for index, mean in enumerate(means):
            self.gradients.set_share(index, self._servers, mean.arrays)
        return True

    def _store_state(self) -> None:
        assert self.step_id is not None
        key, about, step_id = uuid.uuid4().hex, self._state.about(self._contributors), self.step_id
        required(
            self._client.request_all(
                [
                    Call(f"server {index}", PutState(key, step_id, about, arrays))
                    for index, arrays in enumerate(self._state.shares(self._servers))
                ]
            )
        )
        self._membership.request(StateStored, serial=next(self._serials), step_id=step_id, key=key)

    def _load_state(self, key: str) -> bool:
        """False if a server has lost its share."""
        shares = required(self._client.request_all([Call(f"server {index}", GetState(key)) for index in range(self._servers)]))
        if any(share.state is None for share in shares):
            return False
        self._state.take([share.arrays for share in shares], shares[0].state)
        self._contributors = shares[0].state.contributors
        return True
