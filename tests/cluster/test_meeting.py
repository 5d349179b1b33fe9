"""Who makes a step in collective mode: decided once, with whose gradients; and who takes whose state."""

import itertools

import pytest

from coordinators import Asked
from paddle_mini.cluster import Gone, Malformed


class Rank:
    """A trainer, as the coordinator sees it: what it says, and the state that it has."""

    def __init__(self, job, number):
        self.job, self.at, self.asks = job, None, itertools.count()
        self.join(number)

    def join(self, number):
        self.who = self.job.trainer(f"{number} {id(self)} {next(self.asks)}", number)

    @property
    def pair(self):
        return [self.who["trainer"], self.who["incarnation"]]

    def ask(self, name, **fields):
        """A new request; again() repeats it."""
        self.asked = name, {"ask": next(self.asks), **fields}
        return self.again()

    def again(self):
        name, fields = self.asked
        reply = self.job.ask(name, **self.who, **fields)
        reply = {
            word: value
            for word, value in reply.items()
            if word not in ("ok", "life", "version", "repeated") and (word, value) not in NOTHING
        }
        if name == "enter" and "at" in reply:
            self.at = reply["at"]
        if reply.get("answer") == "made":
            self.at = [self.at[0], fields["at"][1] + 1]
        return reply

    def enter(self, lost=None, layout="same"):
        return self.ask("enter", has=self.at, lost=lost, layout=layout)

    def give(self, key, step=None):
        if step is not None:
            self.at = [self.at[0], step]
        assert self.ask("given", at=self.at, key=key) == {}

    def meet(self, full=True):
        return self.ask("meet", at=self.at, full=full)

    def depart(self, done=False):
        return self.ask("depart", at=self.at, done=done)


WAIT = {"wait": True}
NOTHING = [("key", ""), ("made", [])]
"""Fields of replies whose answers have no use for them."""


def made(*pairs):
    """The reply to those who have come to a step, when it is made."""
    return {"answer": "made", **({"made": list(pairs)} if pairs else {})}


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def begun(job, count=2, step=0):
    """Ranks that are inside, before their first step."""
    ranks = [Rank(job, number) for number in range(count)]
    for number, rank in enumerate(ranks):
        reply = rank.enter()
        if number == 0:
            while "wait" in reply:  # for the others to say that they have nothing either
                for other in ranks[1:]:
                    assert other.enter() == WAIT
                reply = rank.again()
            assert reply["answer"] == "first"
            rank.give("beginning", step)
        else:
            assert (reply["answer"], reply["key"], reply["at"]) == ("take", "beginning", ranks[0].at)
    return ranks


def step(*ranks):
    """All make a step; whose gradients it is made of."""
    replies = [rank.meet() for rank in ranks[:-1]]
    assert replies == [WAIT] * len(replies)
    replies = [ranks[-1].meet(), *(rank.again() for rank in ranks[:-1])]
    assert all(reply == replies[0] for reply in replies)
    return replies[0]["made"]


def test_the_first_gives_its_state_to_the_others_and_steps_are_of_all(job):
    a, b = begun(job)
    assert step(a, b) == step(b, a) == [[0, 1], [1, 1]]
    assert a.at == b.at and a.at[1] == 2


def test_the_first_step_waits_for_all_that_the_job_begins_with(job):
    a = Rank(job, 0)
    assert a.enter()["answer"] == "first"
    a.give("beginning", 7)
    assert a.meet() == WAIT
    b = Rank(job, 1)
    assert a.again() == WAIT
    assert b.enter()["answer"] == "take" and b.at == a.at and b.at[1] == 7
    assert a.again() == WAIT
    assert b.meet() == made([0, 1], [1, 1]) == a.again()


def test_a_decision_is_the_same_for_all_whatever_becomes_of_them(job):
    a, b = begun(job)
    assert a.meet() == WAIT
    decided = b.meet()
    job.ask("leave", part="trainer", number=0, incarnation=1)
    with pytest.raises(Gone):
        a.again()
    assert b.again() == decided == made([0, 1], [1, 1])
    assert b.meet() == made([1, 1])


def test_one_without_a_gradient_is_there_and_no_part_of_the_mean(job):
    a, b = begun(job)
    assert a.meet(full=False) == WAIT
    assert b.meet() == made([1, 1]) == a.again()
    assert a.meet(full=False) == WAIT
    assert b.meet(full=False) == made() == a.again()
    assert a.at == b.at


def test_one_that_comes_later_gets_the_state_of_the_first_before_the_next_step_is_made(job):
    a, b = begun(job)
    step(a, b)
    c = Rank(job, 2)
    assert c.enter() == WAIT
    assert b.meet() == WAIT and c.again() == WAIT
    assert a.meet() == {"answer": "give"} and b.again() == WAIT
    a.give("later")
    assert b.again() == WAIT and a.meet() == WAIT
    reply = c.again()
    assert (reply["answer"], reply["key"], c.at) == ("take", "later", a.at)
    assert a.again() == WAIT
    assert c.meet() == made([0, 1], [1, 1], [2, 1]) == a.again() == b.again()


def test_the_next_gives_where_the_first_dies_before_it_has(job):
    a, b = begun(job)
    step(a, b)
    c = Rank(job, 2)
    assert c.enter() == WAIT and b.meet() == WAIT and a.meet() == {"answer": "give"}
    job.ask("leave", part="trainer", number=0, incarnation=1)
    assert b.again() == {"answer": "give"}
    b.give("other")
    assert c.again()["key"] == "other"


def test_a_state_that_servers_have_lost_is_given_again(job):
    a, b = begun(job)
    step(a, b)
    c = Rank(job, 2)
    assert c.enter() == WAIT and b.meet() == WAIT and a.meet() == {"answer": "give"}
    a.give("later")
    assert c.again()["answer"] == "take"
    c.at = None
    assert c.enter(lost="later") == WAIT
    assert a.meet() == {"answer": "give"}
    a.give("once more")
    reply = c.again()
    assert (reply["answer"], reply["key"]) == ("take", "once more")


def test_one_that_was_taken_for_lost_goes_on_where_the_others_have_waited(job):
    a, b = begun(job)
    step(a, b)
    assert a.meet() == WAIT
    job.ask("leave", part="trainer", number=1, incarnation=1)
    b.join(1)
    assert b.meet() == {"answer": "enter"}
    assert b.enter() == {"answer": "go on", "at": a.at}
    assert b.meet() == made([0, 1], [1, 2]) == a.again()


def test_one_that_was_taken_for_lost_takes_the_state_where_the_others_have_not_waited(job):
    a, b = begun(job)
    assert a.meet() == WAIT
    job.ask("leave", part="trainer", number=1, incarnation=1)
    assert a.again() == made([0, 1]), "one that dies before a decision is no part of it"
    b.join(1)
    assert b.meet() == {"answer": "enter"} and b.enter() == WAIT
    assert a.meet() == {"answer": "give"}
    a.give("later")
    assert b.again()["answer"] == "take" and b.at == a.at


def test_a_step_that_servers_have_lost_is_made_anew_by_those_who_do_not_have_it(job):
    a, b = begun(job)
    step(a, b)
    old = [a.at[0], 0]
    a.at = b.at = old
    assert a.enter() == WAIT  # b may have it
    assert b.enter()["answer"] == "go on" and a.again()["answer"] == "go on"
    assert a.at == b.at != old and a.at[1] == 0
    assert step(a, b) == [[0, 1], [1, 1]]


def test_one_that_does_not_have_a_step_takes_it_from_one_that_has(job):
    a, b = begun(job)
    step(a, b)
    b.at = [b.at[0], 0]
    assert b.enter() == WAIT
    assert a.meet() == {"answer": "give"}
    a.give("later")
    assert b.again()["answer"] == "take" and b.at == a.at and b.at[1] == 1


def test_a_coordinator_that_begins_again_hears_all_and_lets_the_furthest_go_on(job):
    a, b = begun(job)
    c = Rank(job, 2)
    assert c.enter()["answer"] == "take"
    step(a, b, c)
    assert a.meet() == b.meet() == WAIT
    decided = c.meet()  # and the others are not told
    assert len(decided["made"]) == 3
    job.restart()
    assert a.again() == b.again() == c.meet() == {"answer": "enter"}
    assert a.enter() == WAIT and b.enter() == WAIT
    assert c.enter()["answer"] == "go on" and a.again() == WAIT
    assert c.meet() == {"answer": "give"}
    c.give("later")
    assert [rank.again()["answer"] for rank in (a, b)] == ["take", "take"]
    assert a.at == b.at == c.at and c.at[1] == 2


def test_two_states_of_the_same_step_are_not_taken_for_one_where_all_were_lost(job):
    """a made the step with b, and b without a: both were lost in between, and an era ended."""
    a, b = begun(job)
    step(a, b)
    for number in (0, 1):
        job.ask("leave", part="trainer", number=number, incarnation=1)
    b.at = [b.at[0], 0]  # it never got the mean
    b.join(1)
    assert b.enter()["answer"] == "go on" and b.meet() == made([1, 2])
    assert b.at[1] == a.at[1]
    a.join(0)
    assert a.enter() == WAIT
    assert b.meet() == {"answer": "give"}


def test_the_last_one_leaves_its_state(job):
    a, b = begun(job)
    step(a, b)
    assert b.depart() == {"answer": "left"} == b.again()
    assert a.depart() == {"answer": "give"}
    a.give("end")
    assert a.depart() == {"answer": "last"}
    assert b.enter() == {"answer": "go on", "at": a.at}  # it comes back, while a writes a checkpoint
    assert a.depart(done=True) == {"answer": "left"}
    assert b.meet() == made([1, 1])
    assert a.enter() == WAIT


def test_one_that_comes_when_all_have_left_takes_the_state_that_they_left(job):
    a, b = begun(job)
    step(a, b)
    for rank in (a, b):
        if rank.depart() == {"answer": "give"}:
            rank.give("end")
            assert rank.depart(done=True) == {"answer": "left"}
    c = Rank(job, 2)
    reply = c.enter()
    assert (reply["answer"], reply["key"], c.at) == ("take", "end", a.at)


def test_who_begins_is_another_one_when_it_dies(job):
    a, b = Rank(job, 0), Rank(job, 1)
    assert a.enter() == WAIT and b.enter() == WAIT
    assert a.again()["answer"] == "first" and b.again() == WAIT
    job.ask("leave", part="trainer", number=0, incarnation=1)
    assert b.again()["answer"] == "first"


def test_requests_that_come_late_do_nothing_and_repeated_ones_get_the_same_reply(job):
    a, b = begun(job)
    late = b.asked
    step(a, b)
    assert a.meet() == WAIT
    now, b.asked = b.asked, late
    assert b.again() == WAIT  # of long ago: nobody reads it
    b.asked = now
    assert b.again()["made"] == [[0, 1], [1, 1]]
    assert b.meet() == a.again() == made([0, 1], [1, 1])


def test_what_makes_no_sense_is_refused(job):
    a, b = begun(job)
    with pytest.raises(Malformed, match="of trainer 1 keeps other variables"):
        b.enter(layout="other")
    for at in (None, [], ["era"], ["era", -1], ["era", "step"], [1, 2]):
        with pytest.raises(Malformed, match="'at' is"):
            a.ask("meet", at=at, full=True)
    with pytest.raises(Malformed, match="'ask' is missing"):
        job.ask("meet", **a.who, at=a.at, full=True)
    with pytest.raises(Gone):
        job.ask("meet", trainer=5, incarnation=1, ask=0, at=a.at, full=True)
