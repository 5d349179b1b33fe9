# Meeting: in collective mode, whose gradients make a step, and where trainers get the state that a step begins with.
"""
A part of the coordinator, which answers enter, given, meet and depart. "step_id" is era and step: which state a trainer has,
and which step it makes with that; two that have the same "step_id" have the same bits. In an era each step is made once.

A trainer enters, which gives it the state of the others, and then meets them at each step, when servers have all of its
gradient; "full" says that it has one. When all inside have come, the step is made of those that are here now: the reply
is the same for all of them and never changes, and servers have every part that it names, so that no two trainers, and
no two servers, can make a step of different gradients. Whoever dies before that moment is in no part of the step;
whoever dies after it, in all.

Nobody enters in the middle of a step: the first of those who have come is asked to give its state, and the step waits
for who takes it. A trainer that comes with anything else than the others' "step_id" is told to enter: it was taken for lost,
or servers have forgotten a part, or this coordinator began again, which forgets all meetings. In the last case, and
where all left, everybody present is heard first, and a new era begins: those whose state has come furthest go on, with
the beginning or a checkpoint where nobody has one, and others take theirs.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping

from ..errors import Malformed
from ..messages import Wait
from ..protocol import Arrive, JoinRendezvous, LeaveRendezvous, StateStored
from ..replies import Arrived, Done, RendezvousJoined, RendezvousLeft
from ..values import ArriveAnswer, JoinAnswer, LeaveAnswer, MemberId, StepId

_Reply = RendezvousJoined | Done | Arrived | RendezvousLeft | Wait


class Rendezvous:
    """present(): the incarnation of each trainer that is in the job, by number; started(): whether all were there once.

    Requests of a trainer have "ask", which rises: one that comes again gets the reply that it had, one that was
    overtaken does nothing.
    """

    def __init__(self, present: Callable[[], Mapping[int, int]], started: Callable[[], bool]):
        self._present, self._started = present, started
        self._step_id = StepId("", 0)  # the step that is not made yet
        self._inside: dict[int, bool | None] = {}  # who makes it: whether with a gradient; None: it has not come
        self._waiting: dict[int, StepId | None] = {}  # who is to get a state, and what it has
        self._first: int | None = None  # who was told to begin
        self._stored: tuple[StepId, str] | None = None  # the state that servers have, and its key
        self._contributors: tuple[StepId, list[MemberId]] | None = None  # the step before
        self._started_steps = False
        self._layout: str | None = None
        self._last: dict[int, tuple[int, _Reply | None]] = {}

    def handle(self, request: JoinRendezvous | StateStored | Arrive | LeaveRendezvous) -> _Reply:
        """A request of a trainer that is present."""
        number, serial = request.trainer, request.serial
        last, reply = self._last.get(number, (-1, None))
        if serial < last:
            return Wait()
        if serial == last and reply is not None:
            return reply
        if isinstance(request, JoinRendezvous):
            if serial > last:  # else it may have been admitted since it asked first
                self._inside.pop(number, None)
            reply = self._join(number, request)
        elif isinstance(request, StateStored):
            reply = self._state_stored(number, request)
        else:
            reply = self._arrive(number, request) if isinstance(request, Arrive) else self._leave(number, request)
        self._last[number] = serial, None if isinstance(reply, Wait) else reply
        return reply

    def end(self, number: int) -> None:
        """This life of a trainer is over."""
        self._inside.pop(number, None)
        self._waiting.pop(number, None)
        self._last.pop(number, None)
        if self._first == number:
            self._first = None

    def _join(self, number: int, request: JoinRendezvous) -> RendezvousJoined | Wait:
        has = request.has
        self._require_layout(number, request.layout)
        if self._stored is not None and self._stored[1] == request.lost:
            self._stored = None
        if number not in self._inside:
            self._waiting[number] = has
            if not self._inside and not self._is_stored:
                self._begin_epoch()
        if number in self._inside or (has == self._step_id and (self._inside or self._is_stored)):
            self._admit(number)
            return RendezvousJoined(JoinAnswer.CONTINUE, self._step_id)
        if number == self._first:
            return RendezvousJoined(JoinAnswer.FIRST, self._step_id)
        if self._stored is not None and self._is_stored:
            self._admit(number)
            return RendezvousJoined(JoinAnswer.LOAD, self._step_id, self._stored[1])
        return Wait()

    def _begin_epoch(self) -> None:
        """Nobody makes steps. Those whose state has come furthest begin; if there is none, the first trainer does."""
        if self._first is not None or self._waiting.keys() != self._present().keys():
            return
        epoch, states = uuid.uuid4().hex, [has for has in self._waiting.values() if has is not None]
        if not states:
            self._first, self._step_id = min(self._waiting), StepId(epoch, 0)
            return
        best = max(states, key=lambda has: (has.step, has.epoch))
        self._step_id, self._started_steps = StepId(epoch, best.step), True
        for number in [number for number, has in self._waiting.items() if has == best]:
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
            self._stored = step_id, request.key
        return Done()

    def _arrive(self, number: int, request: Arrive) -> Arrived | Wait:
        step_id = request.step_id
        if number in self._inside and step_id == self._step_id:
            self._inside[number] = request.has_gradient
            if not self._is_complete:
                return Wait()
            if self._waiting:
                must_store = number == min(self._inside) and not self._is_stored
                return Arrived(ArriveAnswer.STORE) if must_store else Wait()
            self._complete()
        if number in self._inside and self._contributors is not None and self._contributors[0] == step_id:
            return Arrived(ArriveAnswer.COMPLETE, self._contributors[1])
        return Arrived(ArriveAnswer.REJOIN)

    @property
    def _is_complete(self) -> bool:
        """All have come; to the first step, all that the job begins with."""
        begun = self._started_steps or (self._started() and self._present().keys() == self._inside.keys() | self._waiting.keys())
        return begun and None not in self._inside.values()

    def _complete(self) -> None:
        incarnations = self._present()
        contributors = [MemberId(number, incarnations[number]) for number in sorted(self._inside) if self._inside[number]]
        self._contributors, self._started_steps = (self._step_id, contributors), True
        self._step_id = StepId(self._step_id.epoch, self._step_id.step + 1)
        self._inside = dict.fromkeys(self._inside)

    def _leave(self, number: int, request: LeaveRendezvous) -> RendezvousLeft:
        """The last one inside leaves its state at the servers, for those who may come yet, and does what is to be done
        with it; whoever comes meanwhile waits for that."""
        if number not in self._inside or request.step_id != self._step_id:
            return RendezvousLeft(LeaveAnswer.REJOIN)
        if len(self._inside) == 1 and not self._is_stored:
            return RendezvousLeft(LeaveAnswer.STORE)
        if len(self._inside) == 1 and not request.done:
            return RendezvousLeft(LeaveAnswer.LAST)
        del self._inside[number]
        return RendezvousLeft(LeaveAnswer.LEFT)

    @property
    def _is_stored(self) -> bool:
        """Whether servers have the state that the next step begins with."""
        return self._stored is not None and self._stored[0] == self._step_id

    def _require_layout(self, number: int, layout: str) -> None:
        self._layout = self._layout or layout
        if layout != self._layout:
            raise Malformed(
                f"the program of trainer {number} keeps other variables than those of the others, or of "
                "other shapes: all trainers of a job train one program"
            )
