"""A job in collective mode that is stopped: one trainer that has the newest state writes it, and no further step is made."""

import pytest

from coordinators import Asked
from rendezvous_ranks import WAIT, Rank, begun, complete, step

SAVE = {"answer": "save"}
REJOIN = {"answer": "rejoin"}


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def stop(job):
    """The reply to the process that stops the job, without what no reply needs."""
    reply = job.request("stop")
    return WAIT if "wait" in reply else (reply["step"], reply["problem"])


def made(job):
    """Two trainers, after their first step."""
    ranks = begun(job)
    step(*ranks)
    return ranks


def saved(rank, problem=""):
    return rank.request("state_saved", step_id=rank.step_id, problem=problem)


def leaves(job, number):
    job.request("leave", role="trainer", number=number, incarnation=1)


def test_the_first_that_has_the_newest_state_writes_it(job):
    a, b = made(job)
    assert a.arrive() == WAIT
    assert stop(job) == WAIT
    assert a.again() == SAVE == a.again()
    assert b.arrive() == WAIT and stop(job) == WAIT
    assert saved(a) == {}
    assert stop(job) == (1, "")
    assert a.arrive() == b.again() == WAIT, "no further step is made"


def test_a_step_that_is_decided_is_made_before(job):
    a, b = begun(job)
    assert a.arrive() == WAIT
    assert b.arrive() == complete([0, 1], [1, 1])
    assert stop(job) == WAIT
    assert a.again() == complete([0, 1], [1, 1]), "its reply was lost"
    assert b.arrive() == SAVE and a.arrive() == WAIT
    saved(b)
    assert stop(job) == (1, "")


def test_a_decided_step_that_none_can_make_leaves_the_state_before(job):
    a, b = made(job)
    a.step_id = b.step_id = [a.step_id[0], 0]
    assert stop(job) == WAIT
    assert a.join_rendezvous() == WAIT  # b may have it
    assert b.join_rendezvous()["answer"] == a.again()["answer"] == "continue"
    assert a.arrive() == SAVE
    saved(a)
    assert stop(job) == (0, "")


def test_another_one_writes_it_when_the_first_dies(job):
    a, b = made(job)
    assert stop(job) == WAIT
    assert a.arrive() == SAVE and b.arrive() == WAIT
    leaves(job, 0)
    assert b.again() == SAVE
    saved(b)
    assert stop(job) == (1, "")


def test_one_that_can_not_write_it_says_why(job):
    a, _ = made(job)
    assert stop(job) == WAIT and a.arrive() == SAVE
    saved(a, "the disk is full")
    assert stop(job) == (1, "the disk is full")


def test_the_coordinator_dies_meanwhile(job):
    a, b = made(job)
    assert stop(job) == WAIT and a.arrive() == SAVE
    job.restart()
    assert stop(job) == WAIT
    assert saved(a) == {} and stop(job) == WAIT, "of a state that this coordinator does not know"
    assert a.arrive() == b.arrive() == REJOIN
    assert a.join_rendezvous() == WAIT and b.join_rendezvous()["answer"] == "continue" == a.again()["answer"]
    assert b.arrive() == SAVE and a.arrive() == WAIT
    saved(b)
    assert stop(job) == (1, "")


@pytest.mark.parametrize("number", [0, 1])
def test_one_that_fails_writes_the_state_that_it_has(job, number):
    ranks = made(job)
    assert ranks[1 - number].arrive() == WAIT
    fails = ranks[number]
    assert fails.fails() == SAVE
    assert ranks[1 - number].again() == WAIT and stop(job) == WAIT
    saved(fails)
    assert stop(job) == (1, "")


def test_one_that_fails_without_the_newest_state_stops_the_job_and_another_one_writes(job):
    a, b = made(job)
    b.step_id = [b.step_id[0], 0]
    assert b.fails()["answer"] == "complete", "it has not made this step"
    assert a.arrive() == SAVE
    assert b.step_id == a.step_id and b.fails() == REJOIN, "it does not wait"


def test_where_no_step_was_made_there_is_nothing_to_write(job):
    assert stop(job) == (None, "")
    a, b = begun(job)
    assert a.arrive() == WAIT
    assert stop(job) == (None, "")
    assert a.again() == b.arrive() == WAIT
    assert b.fails() == REJOIN


def test_where_all_are_dead_there_is_nothing_to_write(job):
    made(job)
    assert stop(job) == WAIT
    leaves(job, 0)
    assert stop(job) == WAIT
    leaves(job, 1)
    assert stop(job) == (None, "")


def left(rank):
    """It leaves after its last step."""
    assert rank.leave() == {"answer": "store"}
    rank.store("end")
    assert rank.leave() == {"answer": "left"}


def test_one_that_has_ended_writes_it_when_the_others_have_died(job):
    a, _ = made(job)
    left(a)
    assert a.await_end() == WAIT
    leaves(job, 1)
    assert stop(job) == WAIT
    assert a.again() == SAVE
    saved(a)
    assert stop(job) == (1, "") and a.await_end() == WAIT


def test_one_that_waits_for_data_is_waited_for(job):
    a, _ = made(job)
    left(a)
    leaves(job, 0)
    leaves(job, 1)
    assert stop(job) == WAIT
    a.join(0)
    assert a.join_rendezvous()["answer"] == "continue" and a.arrive() == SAVE


def test_all_have_ended(job):
    a, b = made(job)
    left(a)
    assert a.await_end() == WAIT
    assert b.leave() == {"answer": "store"}
    b.store("end")
    assert b.leave() == {"answer": "last"}
    assert b.leave(done=True) == {"answer": "left"} == b.await_end()
    assert stop(job) == (None, "") and a.again() == {"answer": "left"}


def test_one_that_comes_while_the_job_is_stopped_waits(job):
    a, b = made(job)
    c = Rank(job, 2)
    assert c.join_rendezvous() == WAIT
    assert stop(job) == WAIT
    assert a.arrive() == SAVE and b.arrive() == WAIT
    saved(a)
    assert stop(job) == (1, "") and c.again() == WAIT
