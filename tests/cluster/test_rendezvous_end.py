"""The end of a job in collective mode: those that have ended keep their state for as long as another one may need it."""

import pytest

from coordinators import Asked
from rendezvous_ranks import WAIT, Rank, begun, complete, step


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def left(*ranks):
    """They leave after their last step, and wait for the others."""
    for rank in ranks:
        if rank.leave() == {"answer": "store"}:
            rank.store(f"end of {rank.who}")
            assert rank.leave(done=True) == {"answer": "left"}
        assert rank.await_end() == WAIT


def ends_last(rank):
    """The last one leaves, with the checkpoint written, and waits for none."""
    assert rank.leave() == {"answer": "store"}
    rank.store("end")
    assert rank.leave(done=True) == {"answer": "left"} == rank.await_end()


def test_those_that_have_ended_wait_for_the_last(job):
    a, b = begun(job)
    step(a, b)
    left(a)
    assert b.leave() == {"answer": "store"}
    b.store("end")
    assert b.leave() == {"answer": "last"} and a.again() == WAIT  # b writes the checkpoint
    assert b.leave(done=True) == {"answer": "left"} and a.again() == WAIT
    assert b.await_end() == {"answer": "left"} == a.again()


def test_one_that_has_ended_is_free_when_another_makes_a_further_step(job):
    a, b = begun(job)
    step(a, b)
    left(a)
    assert b.arrive() == complete([1, 1])
    assert a.again() == {"answer": "left"}
    ends_last(b)


def test_one_that_takes_no_part_is_not_waited_for(job):
    job.trainer("no part", 1)
    job.request("leave", role="trainer", number=1, incarnation=1, ends=True)
    a = Rank(job, 0)
    assert a.join_rendezvous()["answer"] == "first"
    a.store("beginning", 0)
    assert a.arrive() == complete([0, 1])
    ends_last(a)


def test_the_last_one_dies_and_takes_the_state_of_those_that_wait(job):
    a, b = begun(job)
    step(a, b)
    left(a)
    assert b.leave() == {"answer": "store"}
    b.join(1)
    b.step_id = None
    reply = b.join_rendezvous()
    assert (reply["answer"], reply["holder"], b.step_id) == ("load", [0, 1], a.step_id)
    assert a.again() == WAIT


def test_those_that_have_ended_join_again_after_a_restart_and_are_not_waited_for_twice(job):
    a, b = begun(job)
    step(a, b)
    left(a)
    job.restart()
    assert a.again() == {"answer": "rejoin"} == b.arrive()
    assert a.join_rendezvous() == WAIT
    assert b.join_rendezvous()["answer"] == "continue" and a.again()["answer"] == "continue"
    left(a)
    ends_last(b)  # and a's reply is lost with this coordinator
    job.request("leave", role="trainer", number=1, incarnation=1)
    job.restart()
    assert a.again() == {"answer": "rejoin"}
    assert a.join_rendezvous()["answer"] == "continue"
    ends_last(a)


def test_one_whose_state_was_lost_stores_it_again(job):
    a, b = begun(job)
    step(a, b)
    left(a)
    b.join(1)
    b.step_id = None
    key = b.join_rendezvous()["key"]
    b.step_id = None
    assert b.join_rendezvous(lost=key) == WAIT  # for a, which is there and has the state
    assert a.again() == {"answer": "rejoin"}
    assert a.join_rendezvous()["answer"] == "continue"


def test_what_one_that_has_ended_has_read_and_not_done_is_read_by_others(job):
    a, b = begun(job)
    step(a, b)
    job.request("set_data", chunks=[1], chunks_per_task=1)
    assert job.request("get_tasks", pass_number=0, **a.who)["answer"] == "task"
    left(a)
    assert job.request("get_tasks", pass_number=0, **b.who)["answer"] == "task"
