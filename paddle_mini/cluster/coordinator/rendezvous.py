# Rendezvous: in collective mode, decides whose gradients make a step, and which state each trainer begins it with.
"""
The coordinator handles the requests join_rendezvous, state_stored, arrive, leave_rendezvous and await_end here. A step_id is a
pair (epoch, step): it identifies the state of a trainer and the step that begins with this state; trainers with equal
step_ids have the same bits. Within an epoch each step is made once.

A trainer joins, which gives it the state of the others. It then arrives at each step, when the others can read its
whole gradient; has_gradient is False for a trainer without one. When all members have arrived, the step is
complete: its contributors are the members at this moment. The reply is the same for all of them and never changes, and
each share of the mean is computed by one trainer, or the sum by the GPUs of all (cliques.py), so two trainers can't make a
step of different gradients. A trainer that dies before this moment contributes nothing. If one dies after it, those that
have read the whole mean have made the step, and the others join again: they load the state of one that has made it or, if
none has, all repeat the step.

A trainer can't join in the middle of a step: the first member keeps a copy of its state, and the step waits until the new
member has loaded it. A trainer that arrives with another step_id than the others' gets the answer "rejoin": it was
considered lost, or could not read what it needed from another one, or the coordinator restarted, which loses the
rendezvous. After a restart, and when all members have left, the rendezvous waits for a request of every trainer that is
present. Then a new epoch begins with the most advanced state of a trainer, or with the newest checkpoint if that is of a later
step: those that made it may have died since. Without both it begins with initial values. The other trainers load this state.

When the job is stopped, because its user or the failure of a trainer ends it, no further step is made. So the state with which
the next step would begin stays the newest, and the first trainer that asks for something and has this state writes a
checkpoint of it.

A trainer that has left after its last step keeps its state until another one has made a further step, or until all trainers of
the job have made their last: one that dies in between finds the state when it restarts.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from ..collective_protocol import Arrive, AwaitEnd, GetAddresses, JoinRendezvous, LeaveRendezvous, StateSaved, StateStored
from ..errors import Malformed
from ..messages import Wait
from ..replies import Addresses, Arrived, Done, RendezvousJoined, RendezvousLeft, Stopped
from ..service import Later
from ..values import ArriveAnswer, JoinAnswer, LeaveAnswer, MemberId, RendezvousStatus, StepId
from .cliques import Cliques
from .job_facts import JobFacts
from .stopping import Stopping

RendezvousRequest = JoinRendezvous | StateStored | StateSaved | Arrive | LeaveRendezvous | AwaitEnd
_Reply = RendezvousJoined | Done | Arrived | RendezvousLeft


class _Stored(NamedTuple):
    """A state that its holder keeps under a key."""

    step_id: StepId
    key: str
    holder: MemberId


class Rendezvous:
    """present(): the incarnation of each trainer of the job, by number; require(number, incarnation): raises Gone unless this
    trainer is present; note_end(number, ended): notes whether a trainer has made its last step, and returns whether all
    have; saved(): the step of the newest checkpoint, 0 without one. The serial numbers of a trainer's requests increase: a
    repeated request gets the same reply, an outdated one has no effect. version increases when the replies to requests that
    wait may have changed.
    """

    def __init__(
        self,
        present: Callable[[], Mapping[int, int]],
        facts: JobFacts,
        require: Callable[[int, int], None],
        note_end: Callable[[int, bool], bool],
        saved: Callable[[], int],
    ):
        self._present, self._facts, self._require, self._note_end = present, facts, require, note_end
        self._saved = saved
        self.version = 0
        self._step_id = StepId("", 0)  # the next step
        self._inside: dict[int, Arrive | None] = {}  # its members, with the requests of those that have arrived
        self._waiting: dict[int, StepId | None] = {}  # trainers that wait for a state, with the one that they have
        self._first: int | None = None  # the trainer that provides the first state, of a checkpoint if there is one
        self._stored: dict[int, _Stored] = {}  # by holder
        self._addresses: dict[int, tuple[int, str]] = {}  # incarnation and address, also of trainers that have left
        self._decided: tuple[StepId, Arrived] | None = None  # the previous step
        self._cliques, self._stopping = Cliques(), Stopping()
        self._started_steps = False
        self._layout: str | None = None
        self._last: dict[int, tuple[int, _Reply | None]] = {}

    def reply(self, request: RendezvousRequest) -> _Reply | Later:
        """Waits for other trainers where the reply depends on them. Gone if the trainer is lost meanwhile: a request that waits
        does not renew its lease."""
        self._require(request.trainer, request.incarnation)
        reply = self._handle(request)
        return Later(partial(self.reply, request)) if isinstance(reply, Wait) else reply

    def _handle(self, request: RendezvousRequest) -> _Reply | Wait:
        number, serial = request.trainer, request.serial
        last, known = self._last.get(number, (-1, None))
        if serial < last:
            return Wait()
        if serial == last and known is not None:
            return known
        reply: _Reply | Wait
        self.version += serial > last and not isinstance(request, Arrive)
        if isinstance(request, JoinRendezvous):
            self._addresses[number] = request.incarnation, request.address
            if serial > last:  # a repeated request: the trainer may have been admitted since
                self._inside.pop(number, None)
                self._note_end(number, False)
            reply = self._join(number, request)
        elif isinstance(request, StateStored):
            reply = self._state_stored(number, request)
        elif isinstance(request, StateSaved):
            self._stopping.note_saved(number, request.step_id.step, request.problem)
            reply = Done()
        elif isinstance(request, Arrive):
            reply = self._arrive(number, request)
        else:
            reply = self._leave(number, request) if isinstance(request, LeaveRendezvous) else self._await_end(number, request)
        self._last[number] = serial, None if isinstance(reply, Wait) else reply
        return reply

    def status(self) -> RendezvousStatus:
        return RendezvousStatus(self._step_id.step, sorted(self._inside), sorted(self._waiting))

    def addresses(self, request: GetAddresses) -> Addresses:
        known = [self._addresses.get(one.number, (-1, "")) for one in request.of]
        return Addresses([address if one.incarnation == life else "" for one, (life, address) in zip(request.of, known)])

    def end(self, number: int) -> None:
        """Removes a trainer that left or was lost."""
        self.version += 1
        self._inside.pop(number, None)
        self._waiting.pop(number, None)
        self._last.pop(number, None)
        self._stopping.note_lost(number)
        if self._first == number:
            self._first = None

    def stop(self) -> Stopped | Later:
        """Makes no further step. Waits for the checkpoint of the newest state, as long as a trainer may have this state."""
        self._begin_to_stop()
        may_be_there = (self._present() or self._kept is not None) and not self._facts.all_ended
        if self._stopping.result is None and self._has_made_steps and may_be_there:
            return Later(self.stop)
        return self._stopping.result or Stopped()

    def _begin_to_stop(self) -> None:
        self.version += not self._stopping.has_begun
        self._stopping.has_begun = True

    @property
    def _has_made_steps(self) -> bool:
        """Whether the job may have made steps since it was started, also before the coordinator was restarted."""
        return self._started_steps or self._facts.is_resumed

    def _join(self, number: int, request: JoinRendezvous) -> RendezvousJoined | Wait:
        has = request.has
        self._require_layout(number, request.layout)
        self._stored = {holder: one for holder, one in self._stored.items() if one.key != request.lost}
        if number not in self._inside:
            self._waiting[number] = has
            if not self._inside and self._kept is None:
                self._begin_epoch()
        if number in self._inside or (has == self._step_id and (self._inside or self._kept is not None)):
            self._admit(number)
            return RendezvousJoined(JoinAnswer.CONTINUE, self._step_id)
        if number == self._first:
            return RendezvousJoined(JoinAnswer.FIRST, self._step_id)
        kept = self._kept
        if kept is not None:
            self._admit(number)
            return RendezvousJoined(JoinAnswer.LOAD, self._step_id, kept.key, kept.holder)
        return Wait()

    def _begin_epoch(self) -> None:
        """No step is in progress. The trainers with the most advanced state begin, or one that loads a checkpoint of a later
        step; if there is neither, the first does."""
        if self._first is not None or self._waiting.keys() != self._present().keys():
            return
        self.version += 1
        epoch, states = uuid.uuid4().hex, [has for has in self._waiting.values() if has is not None]
        best = max(states, key=lambda has: (has.step, has.epoch), default=None)
        self._started_steps = self._started_steps or best is not None
        holders = [number for number, has in self._waiting.items() if has == best]
        if best is None or self._saved() > best.step:
            self._first, self._step_id = min(holders), StepId(epoch, 0)
            return
        self._step_id = StepId(epoch, best.step)
        for number in holders:
            self._admit(number)

    def _admit(self, number: int) -> None:
        self._waiting.pop(number, None)
        self._inside[number] = None

    def _state_stored(self, number: int, request: StateStored) -> Done:
        step_id = request.step_id
        if number == self._first and step_id.epoch == self._step_id.epoch:
            self._first, self._step_id = None, step_id
            self._admit(number)
        if number in self._inside and step_id == self._step_id:
            self._stored = {holder: one for holder, one in self._stored.items() if one.step_id == step_id}
            self._stored[number] = _Stored(step_id, request.key, MemberId(number, request.incarnation))
        return Done()

    def _arrive(self, number: int, request: Arrive) -> Arrived | Wait:
        step_id = request.step_id
        if request.fails:
            self._begin_to_stop()
        if number in self._inside and step_id == self._step_id:
            if self._has_made_steps and self._stopping.asks(number):
                return Arrived(ArriveAnswer.SAVE)
            if self._stopping.has_begun:
                return Arrived(ArriveAnswer.REJOIN) if request.fails else Wait()
            is_last, self._inside[number] = self._inside[number] is None, request
            if not self._is_complete:
                return Wait()
            self.version += is_last
            if self._waiting:
                must_store = number == min(self._inside) and self._kept is None
                return Arrived(ArriveAnswer.STORE) if must_store else Wait()
            self._complete()
        if number in self._inside and self._decided is not None and self._decided[0] == step_id:
            return self._decided[1]
        return Arrived(ArriveAnswer.REJOIN)

    @property
    def _is_complete(self) -> bool:
        """Whether all members have arrived; at the first step, all trainers that the job starts with."""
        begun = self._started_steps or (
            self._facts.started and self._present().keys() == self._inside.keys() | self._waiting.keys()
        )
        return begun and None not in self._inside.values()

    def _complete(self) -> None:
        incarnations = self._present()
        arrived = {MemberId(number, incarnations[number]): one for number, one in sorted(self._inside.items()) if one}
        contributors = [life for life, one in arrived.items() if one.has_gradient]
        numbers = [one.number for one in arrived.values() if one.has_gradient]
        clique = self._cliques.of({life: one.gpu for life, one in arrived.items()})
        self._decided = self._step_id, Arrived(ArriveAnswer.COMPLETE, contributors, numbers, clique)
        self._started_steps = True
        self._step_id = StepId(self._step_id.epoch, self._step_id.step + 1)
        self._inside = dict.fromkeys(self._inside)

    def _leave(self, number: int, request: LeaveRendezvous) -> RendezvousLeft:
        """Each keeps its state for trainers that join later, as the others may have died, or not made the last step. The last
        member finishes its work; trainers that join meanwhile wait."""
        if number not in self._inside or request.step_id != self._step_id:
            return RendezvousLeft(LeaveAnswer.REJOIN)
        if number not in self._stored or self._stored[number].step_id != self._step_id:
            return RendezvousLeft(LeaveAnswer.STORE)
        if len(self._inside) == 1 and not request.done:
            return RendezvousLeft(LeaveAnswer.LAST)
        del self._inside[number]
        return RendezvousLeft(LeaveAnswer.LEFT)

    def _await_end(self, number: int, request: AwaitEnd) -> RendezvousLeft | Wait:
        made, step_id = request.step_id, self._step_id
        is_behind = made.epoch == step_id.epoch and made.step < step_id.step
        keeps = made == step_id and number in self._stored and self._stored[number].step_id == made
        all_ended = self._note_end(number, is_behind or keeps)
        if not is_behind and not keeps:
            return RendezvousLeft(LeaveAnswer.REJOIN)
        if keeps and not all_ended and self._stopping.asks(number):
            return RendezvousLeft(LeaveAnswer.SAVE)
        return RendezvousLeft(LeaveAnswer.LEFT) if is_behind or all_ended else Wait()

    @property
    def _kept(self) -> _Stored | None:
        """The state that the next step begins with, if a trainer keeps it."""
        kept = [one for one in self._stored.values() if one.step_id == self._step_id]
        return kept[-1] if kept else None

    def _require_layout(self, number: int, layout: str) -> None:
        self._layout = self._layout or layout
        if layout != self._layout:
            raise Malformed(
                f"the program of trainer {number} has other persistable variables than the other trainers', or of "
                "other shapes: all trainers of a job train one program"
            )
