# Meeting: in collective mode, whose gradients make a step, and where trainers get the state that a step begins with.
"""
A part of the coordinator, which answers enter, given, meet and depart. "at" is era and step: which state a trainer has,
and which step it makes with that; two that have the same "at" have the same bits. In an era each step is made once.

A trainer enters, which gives it the state of the others, and then meets them at each step, when servers have all of its
gradient; "full" says that it has one. When all inside have come, the step is made of those that are here now: the reply
is the same for all of them and never changes, and servers have every part that it names, so that no two trainers, and
no two servers, can make a step of different gradients. Whoever dies before that moment is in no part of the step;
whoever dies after it, in all.

Nobody enters in the middle of a step: the first of those who have come is asked to give its state, and the step waits
for who takes it. A trainer that comes with anything else than the others' "at" is told to enter: it was taken for lost,
or servers have forgotten a part, or this coordinator began again, which forgets all meetings. In the last case, and
where all left, everybody present is heard first, and a new era begins: those whose state has come furthest go on, with
the beginning or a checkpoint where nobody has one, and others take theirs.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping

from ..errors import Malformed
from ..messages import Wait
from ..protocol import Depart, Enter, Given, Meet
from ..replies import Departed, Done, Entered, Met
from ..values import At, DepartAnswer, EnterAnswer, Life, MeetAnswer

_Reply = Entered | Done | Met | Departed | Wait


class Meeting:
    """present(): the incarnation of each trainer that is in the job, by number; started(): whether all were there once.

    Requests of a trainer have "ask", which rises: one that comes again gets the reply that it had, one that was
    overtaken does nothing.
    """

    def __init__(self, present: Callable[[], Mapping[int, int]], started: Callable[[], bool]):
        self._present, self._started = present, started
        self._at = At("", 0)  # the step that is not made yet
        self._inside: dict[int, bool | None] = {}  # who makes it: whether with a gradient; None: it has not come
        self._waiting: dict[int, At | None] = {}  # who is to get a state, and what it has
        self._first: int | None = None  # who was told to begin
        self._given: tuple[At, str] | None = None  # the state that servers have, and its key
        self._made: tuple[At, list[Life]] | None = None  # the step before
        self._begun = False
        self._layout: str | None = None
        self._last: dict[int, tuple[int, _Reply | None]] = {}

    def handle(self, request: Enter | Given | Meet | Depart) -> _Reply:
        """A request of a trainer that is present."""
        number, ask = request.trainer, request.ask
        last, reply = self._last.get(number, (-1, None))
        if ask < last:
            return Wait()
        if ask == last and reply is not None:
            return reply
        if isinstance(request, Enter):
            if ask > last:  # else it may have been admitted since it asked first
                self._inside.pop(number, None)
            reply = self._enter(number, request)
        elif isinstance(request, Given):
            reply = self._give(number, request)
        else:
            reply = self._meet(number, request) if isinstance(request, Meet) else self._depart(number, request)
        self._last[number] = ask, None if isinstance(reply, Wait) else reply
        return reply

    def end(self, number: int) -> None:
        """This life of a trainer is over."""
        self._inside.pop(number, None)
        self._waiting.pop(number, None)
        self._last.pop(number, None)
        if self._first == number:
            self._first = None

    def _enter(self, number: int, request: Enter) -> Entered | Wait:
        has = request.has
        self._require_layout(number, request.layout)
        if self._given is not None and self._given[1] == request.lost:
            self._given = None
        if number not in self._inside:
            self._waiting[number] = has
            if not self._inside and not self._is_given:
                self._begin_anew()
        if number in self._inside or (has == self._at and (self._inside or self._is_given)):
            self._admit(number)
            return Entered(EnterAnswer.GO_ON, self._at)
        if number == self._first:
            return Entered(EnterAnswer.FIRST, self._at)
        if self._given is not None and self._is_given:
            self._admit(number)
            return Entered(EnterAnswer.TAKE, self._at, self._given[1])
        return Wait()

    def _begin_anew(self) -> None:
        """Nobody makes steps. Those whose state has come furthest begin; if there is none, the first trainer does."""
        if self._first is not None or self._waiting.keys() != self._present().keys():
            return
        era, states = uuid.uuid4().hex, [has for has in self._waiting.values() if has is not None]
        if not states:
            self._first, self._at = min(self._waiting), At(era, 0)
            return
        best = max(states, key=lambda has: (has.step, has.era))
        self._at, self._begun = At(era, best.step), True
        for number in [number for number, has in self._waiting.items() if has == best]:
            self._admit(number)

    def _admit(self, number: int) -> None:
        self._waiting.pop(number, None)
        self._inside[number] = None

    def _give(self, number: int, request: Given) -> Done:
        at = request.at
        if number == self._first and at.era == self._at.era:
            self._first, self._at = None, at
            self._admit(number)
        if number in self._inside and at == self._at:
            self._given = at, request.key
        return Done()

    def _meet(self, number: int, request: Meet) -> Met | Wait:
        at = request.at
        if number in self._inside and at == self._at:
            self._inside[number] = request.full
            if not self._is_complete:
                return Wait()
            if self._waiting:
                to_give = number == min(self._inside) and not self._is_given
                return Met(MeetAnswer.GIVE) if to_give else Wait()
            self._make()
        if number in self._inside and self._made is not None and self._made[0] == at:
            return Met(MeetAnswer.MADE, self._made[1])
        return Met(MeetAnswer.ENTER)

    @property
    def _is_complete(self) -> bool:
        """All have come; to the first step, all that the job begins with."""
        begun = self._begun or (self._started() and self._present().keys() == self._inside.keys() | self._waiting.keys())
        return begun and None not in self._inside.values()

    def _make(self) -> None:
        incarnations = self._present()
        made = [Life(number, incarnations[number]) for number in sorted(self._inside) if self._inside[number]]
        self._made, self._begun = (self._at, made), True
        self._at = At(self._at.era, self._at.step + 1)
        self._inside = dict.fromkeys(self._inside)

    def _depart(self, number: int, request: Depart) -> Departed:
        """The last one inside leaves its state at the servers, for those who may come yet, and does what is to be done
        with it; whoever comes meanwhile waits for that."""
        if number not in self._inside or request.at != self._at:
            return Departed(DepartAnswer.ENTER)
        if len(self._inside) == 1 and not self._is_given:
            return Departed(DepartAnswer.GIVE)
        if len(self._inside) == 1 and not request.done:
            return Departed(DepartAnswer.LAST)
        del self._inside[number]
        return Departed(DepartAnswer.LEFT)

    @property
    def _is_given(self) -> bool:
        """Whether servers have the state that the next step begins with."""
        return self._given is not None and self._given[0] == self._at

    def _require_layout(self, number: int, layout: str) -> None:
        self._layout = self._layout or layout
        if layout != self._layout:
            raise Malformed(
                f"the program of trainer {number} keeps other variables than those of the others, or of "
                "other shapes: all trainers of a job train one program"
            )
