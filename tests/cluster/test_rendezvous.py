"""The decision, made once, which trainers' gradients form a step in collective mode, and whose state a new trainer copies."""

import pytest

from coordinators import Asked
from paddle_mini.cluster import Gone, Malformed
from rendezvous_ranks import WAIT, Rank, begun, complete, step


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def test_the_first_gives_its_state_to_the_others_and_steps_are_of_all(job):
    a, b = begun(job)
    assert step(a, b) == step(b, a) == [[0, 1], [1, 1]]
    assert a.step_id == b.step_id and a.step_id[1] == 2


def test_the_first_step_waits_for_all_that_the_job_begins_with(job):
    a = Rank(job, 0)
    assert a.join_rendezvous()["answer"] == "first"
    a.store("beginning", 7)
    assert a.arrive() == WAIT
    b = Rank(job, 1)
    assert a.again() == WAIT
    assert b.join_rendezvous()["answer"] == "load" and b.step_id == a.step_id and b.step_id[1] == 7
    assert a.again() == WAIT
    assert b.arrive() == complete([0, 1], [1, 1]) == a.again()


def test_a_decision_is_the_same_for_all_whatever_becomes_of_them(job):
    a, b = begun(job)
    assert a.arrive() == WAIT
    decided = b.arrive()
    job.request("leave", role="trainer", number=0, incarnation=1)
    with pytest.raises(Gone):
        a.again()
    assert b.again() == decided == complete([0, 1], [1, 1])
    assert b.arrive() == complete([1, 1])


def test_one_without_a_gradient_is_there_and_no_part_of_the_mean(job):
    a, b = begun(job)
    assert a.arrive(has_gradient=False) == WAIT
    assert b.arrive() == complete([1, 1]) == a.again()
    assert a.arrive(has_gradient=False) == WAIT
    assert b.arrive(has_gradient=False) == complete() == a.again()
    assert a.step_id == b.step_id


def test_one_that_comes_later_gets_the_state_of_the_first_before_the_next_step_is_made(job):
    a, b = begun(job)
    step(a, b)
    c = Rank(job, 2)
    assert c.join_rendezvous() == WAIT
    assert b.arrive() == WAIT and c.again() == WAIT
    assert a.arrive() == {"answer": "store"} and b.again() == WAIT
    a.store("later")
    assert b.again() == WAIT and a.arrive() == WAIT
    reply = c.again()
    assert (reply["answer"], reply["key"], c.step_id) == ("load", "later", a.step_id)
    assert a.again() == WAIT
    assert c.arrive() == complete([0, 1], [1, 1], [2, 1]) == a.again() == b.again()


def test_the_next_gives_where_the_first_dies_before_it_has(job):
    a, b = begun(job)
    step(a, b)
    c = Rank(job, 2)
    assert c.join_rendezvous() == WAIT and b.arrive() == WAIT and a.arrive() == {"answer": "store"}
    job.request("leave", role="trainer", number=0, incarnation=1)
    assert b.again() == {"answer": "store"}
    b.store("other")
    assert c.again()["key"] == "other"


def test_a_state_that_its_holder_has_lost_is_given_again(job):
    a, b = begun(job)
    step(a, b)
    c = Rank(job, 2)
    assert c.join_rendezvous() == WAIT and b.arrive() == WAIT and a.arrive() == {"answer": "store"}
    a.store("later")
    assert c.again()["answer"] == "load"
    c.step_id = None
    assert c.join_rendezvous(lost="later") == WAIT
    assert a.arrive() == {"answer": "store"}
    a.store("once more")
    reply = c.again()
    assert (reply["answer"], reply["key"], reply["holder"]) == ("load", "once more", [0, 1])


def test_a_trainer_is_found_at_its_address_also_when_it_has_left(job):
    a, b = begun(job)
    job.request("leave", role="trainer", number=0, incarnation=1)
    lives = [[1, 1], [0, 1], [0, 2], [7, 1]]
    assert job.request("get_addresses", of=lives)["addresses"] == [f"of {id(b)}", f"of {id(a)}", "", ""]


def test_one_that_was_taken_for_lost_goes_on_where_the_others_have_waited(job):
    a, b = begun(job)
    step(a, b)
    assert a.arrive() == WAIT
    job.request("leave", role="trainer", number=1, incarnation=1)
    b.join(1)
    assert b.arrive() == {"answer": "rejoin"}
    assert b.join_rendezvous() == {"answer": "continue", "step_id": a.step_id}
    assert b.arrive() == complete([0, 1], [1, 2]) == a.again()


def test_one_that_was_taken_for_lost_takes_the_state_where_the_others_have_not_waited(job):
    a, b = begun(job)
    assert a.arrive() == WAIT
    job.request("leave", role="trainer", number=1, incarnation=1)
    assert a.again() == complete([0, 1]), "a decision excludes a trainer that died before it"
    b.join(1)
    assert b.arrive() == {"answer": "rejoin"} and b.join_rendezvous() == WAIT
    assert a.arrive() == {"answer": "store"}
    a.store("later")
    assert b.again()["answer"] == "load" and b.step_id == a.step_id


def test_a_step_that_fails_is_made_anew_by_those_who_do_not_have_it(job):
    a, b = begun(job)
    step(a, b)
    old = [a.step_id[0], 0]
    a.step_id = b.step_id = old
    assert a.join_rendezvous() == WAIT  # b may have it
    assert b.join_rendezvous()["answer"] == "continue" and a.again()["answer"] == "continue"
    assert a.step_id == b.step_id != old and a.step_id[1] == 0
    assert step(a, b) == [[0, 1], [1, 1]]


def test_one_that_does_not_have_a_step_takes_it_from_one_that_has(job):
    a, b = begun(job)
    step(a, b)
    b.step_id = [b.step_id[0], 0]
    assert b.join_rendezvous() == WAIT
    assert a.arrive() == {"answer": "store"}
    a.store("later")
    assert b.again()["answer"] == "load" and b.step_id == a.step_id and b.step_id[1] == 1


def test_a_coordinator_that_begins_again_hears_all_and_lets_the_furthest_go_on(job):
    a, b = begun(job)
    c = Rank(job, 2)
    assert c.join_rendezvous()["answer"] == "load"
    step(a, b, c)
    assert a.arrive() == b.arrive() == WAIT
    decided = c.arrive()  # and the others are not notified
    assert len(decided["contributors"]) == 3
    job.restart()
    assert a.again() == b.again() == c.arrive() == {"answer": "rejoin"}
    assert a.join_rendezvous() == WAIT and b.join_rendezvous() == WAIT
    assert c.join_rendezvous()["answer"] == "continue" and a.again() == WAIT
    assert c.arrive() == {"answer": "store"}
    c.store("later")
    assert [rank.again()["answer"] for rank in (a, b)] == ["load", "load"]
    assert a.step_id == b.step_id == c.step_id and c.step_id[1] == 2


def test_two_states_of_the_same_step_are_not_taken_for_one_where_all_were_lost(job):
    """a made the step with b, and b without a: both were lost in between, and an epoch ended."""
    a, b = begun(job)
    step(a, b)
    for number in (0, 1):
        job.request("leave", role="trainer", number=number, incarnation=1)
    b.step_id = [b.step_id[0], 0]  # it never received the mean
    b.join(1)
    assert b.join_rendezvous()["answer"] == "continue" and b.arrive() == complete([1, 2])
    assert b.step_id[1] == a.step_id[1]
    a.join(0)
    assert a.join_rendezvous() == WAIT
    assert b.arrive() == {"answer": "store"}


def test_the_last_one_leaves_its_state(job):
    a, b = begun(job)
    step(a, b)
    for rank in (b, a):
        assert rank.leave() == {"answer": "store"}
        rank.store("end")
    assert b.leave() == {"answer": "left"} == b.again()
    assert a.leave() == {"answer": "last"}
    assert b.join_rendezvous() == {"answer": "continue", "step_id": a.step_id}  # it returns, while a writes a checkpoint
    assert a.leave(done=True) == {"answer": "left"}
    assert b.arrive() == complete([1, 1])
    assert a.join_rendezvous() == WAIT


def test_one_that_could_not_make_the_last_step_takes_the_state_of_one_that_has_left(job):
    a, b = begun(job)
    before = b.step_id
    step(a, b)
    assert a.leave() == {"answer": "store"}
    a.store("end")
    assert a.leave() == {"answer": "left"}
    b.step_id = before
    reply = b.join_rendezvous()
    assert (reply["answer"], reply["key"], reply["holder"], b.step_id) == ("load", "end", [0, 1], a.step_id)


def test_a_state_of_several_is_given_by_another_one_when_it_is_lost(job):
    a, b = begun(job)
    step(a, b)
    for rank, key in ((a, "one"), (b, "two")):
        assert rank.leave() == {"answer": "store"}
        rank.store(key)
        rank.leave(done=True)
    c = Rank(job, 2)
    assert c.join_rendezvous()["key"] == "two"
    c.step_id = None
    assert c.join_rendezvous(lost="two")["key"] == "one"


def test_one_that_comes_when_all_have_left_takes_the_state_that_they_left(job):
    a, b = begun(job)
    step(a, b)
    for rank in (a, b):
        if rank.leave() == {"answer": "store"}:
            rank.store("end")
            assert rank.leave(done=True) == {"answer": "left"}
    c = Rank(job, 2)
    reply = c.join_rendezvous()
    assert (reply["answer"], reply["key"], c.step_id) == ("load", "end", a.step_id)


def test_who_begins_is_another_one_when_it_dies(job):
    a, b = Rank(job, 0), Rank(job, 1)
    assert a.join_rendezvous() == WAIT and b.join_rendezvous() == WAIT
    assert a.again()["answer"] == "first" and b.again() == WAIT
    job.request("leave", role="trainer", number=0, incarnation=1)
    assert b.again()["answer"] == "first"


def test_requests_that_come_late_do_nothing_and_repeated_ones_get_the_same_reply(job):
    a, b = begun(job)
    late = b.asked
    step(a, b)
    assert a.arrive() == WAIT
    now, b.asked = b.asked, late
    assert b.again() == WAIT  # an old one, which is not read
    b.asked = now
    assert b.again()["contributors"] == [[0, 1], [1, 1]]
    assert b.arrive() == a.again() == complete([0, 1], [1, 1])


def test_what_makes_no_sense_is_refused(job):
    a, b = begun(job)
    with pytest.raises(Malformed, match="of trainer 1 has other persistable variables"):
        b.join_rendezvous(layout="other")
    for step_id in (None, [], ["epoch"], ["epoch", -1], ["epoch", "step"], [1, 2]):
        with pytest.raises(Malformed, match="'step_id' is"):
            a.request("arrive", step_id=step_id, has_gradient=True)
    with pytest.raises(Malformed, match="'serial' is missing"):
        job.request("arrive", **a.who, step_id=a.step_id, has_gradient=True)
    with pytest.raises(Gone):
        job.request("arrive", trainer=5, incarnation=1, serial=0, step_id=a.step_id, has_gradient=True)
