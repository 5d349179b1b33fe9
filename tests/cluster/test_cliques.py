"""The decision, made once for a step, whether the GPUs of its trainers add up their gradients, and in which clique."""

import base64

import pytest

from coordinators import Asked
from paddle_mini.cluster import Malformed
from rendezvous_ranks import WAIT, begun

VERSION = "2.21.5"


def text(name):
    return base64.b64encode(name.encode()).decode()


def gpu(identity, clique="", offer="", version=VERSION):
    return [version, identity, text(clique), text(offer)]


def decided(ranks, gpus, without=()):
    """The clique of the step at which all arrive, those at positions `without` without a gradient: its id, and numbers."""
    replies = [rank.arrive(at not in without, one) for at, (rank, one) in enumerate(zip(ranks, gpus))]
    assert replies[:-1] == [WAIT] * (len(ranks) - 1)
    assert all(rank.again() == replies[-1] for rank in ranks)
    assert replies[-1]["answer"] == "complete"
    clique = replies[-1].get("clique")
    return clique and (base64.b64decode(clique[0]).decode(), [number for number, _ in clique[1]])


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def test_the_first_offers_a_clique_that_all_form_and_it_stays(job):
    ranks = begun(job, 3)
    assert decided(ranks, [gpu(f"g{number}", offer=f"by {number}") for number in range(3)]) == ("by 0", [0, 1, 2])
    for _ in range(2):
        assert decided(ranks, [gpu(f"g{number}", "by 0") for number in range(3)]) == ("by 0", [0, 1, 2])


def test_one_without_a_gradient_is_in_the_clique(job):
    ranks = begun(job, 3)
    gpus = [gpu(f"g{number}", offer=f"by {number}") for number in range(3)]
    assert decided(ranks, gpus, without=[0]) == ("by 0", [0, 1, 2])
    assert decided(ranks, [gpu(f"g{number}", "by 0") for number in range(3)], without=[1, 2]) == ("by 0", [0, 1, 2])


def test_hosts_add_up_where_gpus_can_not(job):
    ranks = begun(job)
    first = gpu("a", offer="by 0")
    for other in (None, gpu("a", offer="by 1"), gpu("b", offer="by 1", version="2.20.3")):
        assert decided(ranks, [first, other]) is None
        assert decided(ranks, [other, first]) is None
    assert decided(ranks, [first, gpu("b")]) == ("by 0", [0, 1])


def test_a_clique_that_one_has_left_is_not_used_again(job):
    ranks = begun(job)
    assert decided(ranks, [gpu("a", offer="one"), gpu("b")]) == ("one", [0, 1])
    assert decided(ranks, [gpu("a", "one"), gpu("b", offer="two")]) is None, "the first has no other one"
    assert decided(ranks, [gpu("a", "one"), gpu("b", "one")]) is None, "not all may be in it"
    assert decided(ranks, [gpu("a", offer="three"), gpu("b", offer="two")]) == ("three", [0, 1])


def test_a_clique_has_exactly_the_trainers_of_the_step(job):
    a, b, c = ranks = begun(job, 3)
    assert decided(ranks, [gpu("a", offer="one"), gpu("b"), gpu("c")]) == ("one", [0, 1, 2])
    c.store("end")
    assert c.leave() == {"answer": "left"}
    assert decided([a, b], [gpu("a", "one"), gpu("b", "one")]) is None
    assert decided([a, b], [gpu("a", offer="two"), gpu("b")]) == ("two", [0, 1])


def test_a_trainer_that_begins_again_is_another_member(job):
    a, b = begun(job)
    assert decided([a, b], [gpu("a", offer="one"), gpu("b")]) == ("one", [0, 1])
    job.request("leave", role="trainer", number=1, incarnation=1)
    b.join(1)
    assert b.arrive(gpu=gpu("b", "one")) == {"answer": "rejoin"}
    assert b.join_rendezvous()["answer"] == "continue"
    assert decided([a, b], [gpu("a", "one"), gpu("b", "one")]) is None
    assert decided([a, b], [gpu("a", offer="two"), gpu("b")]) == ("two", [0, 1])


def test_what_is_no_gpu_is_refused(job):
    a, _ = begun(job)
    for wrong in ([], [VERSION, "a", "", 3], [VERSION, "a", "?", ""], "gpu"):
        with pytest.raises(Malformed, match="'gpu"):
            a.arrive(gpu=wrong)
