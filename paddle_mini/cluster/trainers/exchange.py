# Exchange: all-reduce of gradients between trainers, and transfer of the training state, in collective mode.
from __future__ import annotations

import uuid
from collections.abc import Callable
from enum import Enum
from itertools import count

from ..client import Client
from ..collective_protocol import Arrive, AwaitEnd, JoinRendezvous, LeaveRendezvous, StateSaved, StateStored
from ..errors import StorageError
from ..replies import Arrived
from ..values import ArriveAnswer, JoinAnswer, LeaveAnswer, MemberId, StepId
from .host_gradients import HostGradients
from .membership import Membership
from .peer import Kept, Peer
from .peers import Peers
from .training_state import TrainingState

_SOON = 5.0
"""Seconds in which the coordinator must answer a trainer that has failed."""


class Outcome(Enum):
    """Result of a step. MEAN: the mean of all trainers' gradients is known. NOTHING: no trainer had a gradient.
    DONE: this trainer was behind and has loaded another one's state, to which its gradient has contributed. AGAIN: the
    same, but without its gradient, which it must compute again."""

    MEAN, NOTHING, DONE, AGAIN = range(4)


class Exchange:
    """step_id: identifies this trainer's state and the step that begins with it; None before it has one. inside:
    whether the others wait for this trainer at each step. gradients: its own, and the mean; own, address: its service and where
    that is. sent, applied: numbers of its gradients, and of those that became part of a mean.

    See Rendezvous for the protocol. Each of the n contributors of a step computes one of n equal shares of the mean: it reads
    this share of the others' gradients (reduce-scatter), and then the other shares of the mean (all-gather). So a trainer
    sends and receives 2 (n - 1) / n times the bytes of its gradient. A gradient may be changed when its trainer has the
    whole mean, because then all shares were computed. A mean may be changed when all have arrived at the next step. Where the
    coordinator has found a clique for the step, the GPUs of all trainers compute the whole mean instead, or some of them
    fail, which is then as if they had not read another one's share.
    """

    def __init__(
        self,
        membership: Membership,
        client: Client,
        gradients: HostGradients,
        own: Peer,
        address: str,
        peers: Peers,
        state: TrainingState,
    ):
        self._membership, self._client = membership, client
        self._gradients, self._peers, self._state = gradients, peers, state
        self._memory, self._own, self._address = gradients.memory, own, address
        self.step_id: StepId | None = None
        self.inside = False
        self.sent = self.applied = 0
        self._serials = count()
        self._contributors: list[MemberId] = []  # those of the last step

    def join(self) -> bool:
        """Returns when this trainer has the common state. False: it had this state already."""
        lost: str | None = None
        self._own.gradient_of = None  # who waits for this trainer's share of a mean waits in vain
        while True:
            reply = self._membership.request(
                JoinRendezvous,
                serial=next(self._serials),
                has=self.step_id,
                lost=lost,
                layout=self._state.layout,
                address=self._address,
            )
            if reply.answer is JoinAnswer.FIRST:
                self._resume(reply.step_id.epoch)
            elif reply.holder is not None and not self._load_state(reply.holder, reply.key):
                lost = reply.key
                continue
            else:
                self.step_id = reply.step_id
            self.inside = True
            return reply.answer is not JoinAnswer.CONTINUE

    def mean(self, has_gradient: bool) -> Outcome:
        """Makes a step. has_gradient: whether this trainer has a gradient."""
        assert self.step_id is not None
        is_part, step = False, self.step_id.step
        self.sent += has_gradient
        while True:
            self._own.gradient_of = self.step_id if has_gradient else None
            me, gpu = self._membership.life, self._gradients.gpu
            number = self._memory.gradient.serial if self._own.is_in_memory else 0
            arrival = {"step_id": self.step_id, "has_gradient": has_gradient, "number": number, "gpu": gpu}
            reply = self._membership.request(Arrive, serial=next(self._serials), **arrival)
            if reply.answer is ArriveAnswer.STORE:
                self._store_state()
                continue
            if reply.answer is ArriveAnswer.SAVE:  # and then it waits for the end
                self._save_state()
                continue
            if reply.answer is ArriveAnswer.COMPLETE:
                self._own.kept = None  # who waited for it has loaded it
                is_part = me in reply.contributors
                if not reply.contributors or self._average(reply, me):
                    self.step_id, self._contributors = StepId(self.step_id.epoch, step + 1), reply.contributors
                    self.applied += is_part
                    return Outcome.MEAN if reply.contributors else Outcome.NOTHING
            if self.join():
                is_part = is_part or (self.step_id.step == step + 1 and me in self._contributors)
                is_done = is_part and self.step_id.step > step
                self.applied += is_done
                return Outcome.DONE if is_done else Outcome.AGAIN

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

    def end(self, when_last: Callable[[], None]) -> None:
        """Leaves after the last step; returns when no other trainer needs this one's state."""
        self.leave(when_last)
        while (answer := self._await_end()) is not LeaveAnswer.LEFT:
            if answer is LeaveAnswer.SAVE:
                self._save_state()
            else:
                self.join()
                self.leave(when_last)

    def fail(self) -> None:
        """The trainer has failed, which stops the job: writes a checkpoint if this trainer has the newest state. Sends one
        message only, as the coordinator may be the reason."""
        if self.inside and self.step_id is not None:
            arrival = Arrive(*self._membership.life, next(self._serials), self.step_id, has_gradient=False, fails=True)
            if self._client.once("coordinator", arrival, _SOON).answer is ArriveAnswer.SAVE:
                self._save_state()

    def undo(self) -> None:
        """The optimizer has failed with the mean of the last step, so that this trainer has the state before it."""
        assert self.step_id is not None
        self.step_id = StepId(self.step_id.epoch, self.step_id.step - 1)
        self.inside = False

    def _await_end(self) -> LeaveAnswer:
        return self._membership.request(AwaitEnd, serial=next(self._serials), step_id=self.step_id).answer

    def _leave_once(self, done: bool) -> LeaveAnswer:
        return self._membership.request(LeaveRendezvous, serial=next(self._serials), step_id=self.step_id, done=done).answer

    def _average(self, reply: Arrived, me: MemberId) -> bool:
        """Computes the mean of the contributors' gradients, in their order. False if another one does not answer, or has not what
        this step needs; this trainer's gradient is unchanged."""
        of = reply.contributors
        if reply.clique is not None:
            return self._gradients.add_up(reply.clique, me, len(of), takes_part=me in of)
        has_brought = self._gradients.give_to_host()
        own = of.index(me) if me in of else None
        return (own is None or self._compute_share(reply, own, has_brought)) and self._gather(of, own)

    def _compute_share(self, reply: Arrived, own: int, has_brought: bool) -> bool:
        assert self.step_id is not None
        of = reply.contributors
        self._own.mean_of = None
        read = self._peers.gradients(reply, self.step_id, own, has_brought)
        if read is None:
            return False
        parts = [one.arrays for one in read]
        parts.insert(own, self._memory.gradient.buffer.share(own, len(of)))
        with self._memory.mean.changing() as means:
            means.set_mean(own, len(of), parts)
        if not all(one.is_intact() for one in read):
            return False
        self._own.mean_of = self.step_id
        return True

    def _gather(self, of: list[MemberId], own: int | None) -> bool:
        """Reads the shares of the mean that others compute."""
        assert self.step_id is not None
        read = self._peers.means(of, self.step_id, own)
        if read is None:
            return False
        for number, one in zip([number for number in range(len(of)) if number != own], read):
            self._memory.mean.buffer.set_share(number, len(of), one.arrays)
        return all(one.is_intact() for one in read)

    def _resume(self, epoch: str) -> None:
        """Begins an epoch with the newest checkpoint or, if that is not newer, with the state that this trainer has."""
        own = None if self.step_id is None else self.step_id.step
        step = self._state.resume(own)
        if step != own:
            self._contributors = []  # a checkpoint does not tell
        self.step_id = StepId(epoch, step)
        self._store_state()

    def _store_state(self) -> None:
        assert self.step_id is not None
        key = uuid.uuid4().hex
        self._own.kept = Kept(key, self._state.about(self._contributors), self._state.arrays())
        self._membership.request(StateStored, serial=next(self._serials), step_id=self.step_id, key=key)

    def _save_state(self) -> None:
        """Writes the checkpoint with which the job is stopped."""
        assert self.step_id is not None
        problem = ""
        try:
            self._state.save(self.step_id.step)
        except StorageError as error:
            problem = str(error)
        self._membership.request(StateSaved, serial=next(self._serials), step_id=self.step_id, problem=problem)

    def _load_state(self, holder: MemberId, key: str) -> bool:
        """False if it is not there any more."""
        found = self._peers.state(holder, key)
        if found is None or found.state is None:
            return False
        self._state.take(found.arrays, found.state)
        self._contributors = found.state.contributors
        return True
