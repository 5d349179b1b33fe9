"""A step takes one request to each server that has something for it, and a request that depends on others is kept."""

import time
from collections import Counter

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier
from paddle_mini.cluster import Gone, StorageError
from paddle_mini.cluster.engine import Envelope
from paddle_mini.cluster.messages import decode_reply, encode
from paddle_mini.cluster.protocol import Pull, Push, SetMembers
from paddle_mini.cluster.replies import Pulled, Pushed
from paddle_mini.cluster.thread_engine import ThreadEngine
from paddle_mini.cluster.values import BlockKey, MemberId
from raw_messages import fields_of
from server_calls import Group
from server_pushes import ONE, VALUE, gradient

STEPS, SERVERS = 9, 3


class Counting(ThreadEngine):
    """Counts the requests to servers by name."""

    def __init__(self):
        super().__init__()
        self.requests = Counter()

    def post(self, request, respond, timeout):
        self.requests[request.service, fields_of(request.header)["request"]] += 1
        super().post(request, respond, timeout)

    def of_steps(self, server):
        return self.requests[f"server {server}", "push"] + self.requests[f"server {server}", "pull"]


def trains(steps, pause):
    _, _, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
    trainer = begun()
    for step in range(steps):
        time.sleep(pause * trainer.number)
        trainer.run(batch(8 * step, 8 * step + 8), [loss])


@pytest.mark.parametrize("mode, trainers, pause", [("async", 1, 0), ("async", 3, 0), ("sync", 1, 0), ("sync", 6, 0.02)])
def test_a_step_sends_each_server_one_request(mode, trainers, pause):
    """One for each step, the first of which has no gradients yet, and one for those of the last step; in sync mode also
    where the others are slow."""
    engine = Counting()
    pm.cluster.run(trains, trainers, SERVERS, mode, engine, args=(STEPS, pause))
    for server in range(SERVERS):
        assert engine.of_steps(server) <= trainers * (STEPS + 1)
        assert engine.requests[f"server {server}", "push"] == trainers * STEPS


def trains_ahead_first(steps):
    _, _, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
    trainer = begun()
    batches = [batch(8 * step, 8 * step + 8) for step in range(steps)]
    assert len(list(trainer.steps(batches[:2], [loss]))) == 2
    for one in batches[2:]:
        trainer.run(one, [loss])


def test_run_after_steps_sends_each_server_one_request():
    """steps() that have ended leave nothing to settle: gradients go with the request for the next parameters."""
    engine = Counting()
    pm.cluster.run(trains_ahead_first, 1, SERVERS, engine=engine, args=(STEPS,))
    for server in range(SERVERS):
        assert engine.requests[f"server {server}", "push"] == STEPS
        assert engine.of_steps(server) <= STEPS + 3  # those of the first two batches have no gradients yet


def test_only_servers_that_have_rows_of_a_batch_are_asked():
    def one_table():
        ids = pm.layers.data("ids", shape=[-1, 1], dtype="int64")
        table = pm.layers.embedding(ids, size=[3 * 8192, 1], is_sparse=True, param_attr="table")
        pm.optimizer.SGD(0.5).minimize(pm.layers.reduce_sum(table))
        trainer = begun()
        before = pm.global_scope().get("table")
        for step in range(STEPS):
            trainer.run({"ids": np.array([[0], [step]])})
        trainer.pull()
        return before - pm.global_scope().get("table")

    engine = Counting()
    (moved,) = pm.cluster.run(one_table, 1, SERVERS, engine=engine).returned
    np.testing.assert_allclose(moved[: STEPS + 1, 0], [0.5 * (STEPS + 1)] + [0.5] * (STEPS - 1) + [0.0], atol=1e-5)
    touched = [server for server in range(SERVERS) if engine.requests[f"server {server}", "push"]]
    assert len(touched) == 1 and engine.of_steps(touched[0]) <= STEPS + 2
    assert all(engine.of_steps(server) == 1 for server in range(SERVERS) if server not in touched), "the last pull"


def taken(server, request, patience=60.0):
    """The answers that a server gives to a request, now and later."""
    answers = []
    server.take(*encode("job", request), answers.append, patience)
    return answers


def replied(answers, kind):
    (answer,) = answers
    return decode_reply(kind, *answer)


def push(trainer, step=0, incarnation=0):
    keys = [BlockKey("w", 0)]
    return Push(trainer, incarnation, step, keys, wanted=keys, min_version=step + 1, arrays=[gradient(trainer, step)])


def test_replies_to_a_step_wait_for_it():
    server = Group(1, ONE, 3, mode="sync").servers[0]
    waiting = [taken(server, push(0)), taken(server, push(2)), taken(server, Pull([BlockKey("w", 0)], min_version=1))]
    assert waiting == [[], [], []]
    last = taken(server, push(1))
    expected = VALUE - 0.1 * (gradient(0, 0) + gradient(1, 0) + gradient(2, 0)) / 3
    for answers, kind in [*zip(waiting, (Pushed, Pushed, Pulled)), (last, Pushed)]:
        reply = replied(answers, kind)
        assert reply.version == 1
        np.testing.assert_allclose(reply.arrays[0], expected, rtol=1e-5)
    assert server.status().pushes.repeated == 0


def test_a_repeated_push_gets_the_same_reply_and_counts_once():
    server = Group(1, ONE, 2, mode="sync").servers[0]
    first, again = taken(server, push(0)), taken(server, push(0))
    taken(server, push(1))
    one, other = replied(first, Pushed), replied(again, Pushed)
    assert (one.repeated, other.repeated) == (False, True)
    np.testing.assert_array_equal(one.arrays[0], other.arrays[0])
    assert server.status().pushes.applied == 2


def test_a_trainer_that_leaves_releases_the_others_and_is_told():
    server = Group(1, ONE, 3, mode="sync").servers[0]
    staying, leaving = taken(server, push(0)), taken(server, push(2))
    taken(server, SetMembers(1, [MemberId(0, 0), MemberId(1, 0)]))
    assert not staying
    with pytest.raises(Gone, match="trainer 2 has left the job, or was lost"):
        replied(leaving, Pushed)
    taken(server, SetMembers(2, [MemberId(0, 0)]))
    assert replied(staying, Pushed).version == 1
    pushes = server.status().pushes
    assert (pushes.sent, pushes.applied, pushes.dropped) == (2, 1, 1)


def test_a_push_of_a_membership_that_the_server_does_not_know_waits_for_it():
    server = Group(1, ONE, 1).servers[0]
    early = push(0, incarnation=4)
    early.membership, early.min_version = 7, 0
    answers = taken(server, early)
    assert not answers and server.status().pushes.sent == 0
    taken(server, SetMembers(7, [MemberId(0, 4)]))
    assert replied(answers, Pushed).version == 1


def test_a_request_that_is_kept_for_long_has_to_be_repeated():
    server = Group(1, ONE, 2, mode="sync").servers[0]
    answers = taken(server, push(0), patience=0.02)
    assert not answers
    while not answers:
        server.tick()
    wait = replied(answers, Pushed)
    assert type(wait).__name__ == "Wait" and wait.life == server.life


def test_what_a_push_wants_is_checked_before_it_is_applied():
    group = Group(1, ONE)
    bad = push(0)
    bad.wanted = [BlockKey("other", 0)]
    answers = taken(group.servers[0], bad)
    with pytest.raises(Exception, match="block 0 of 'other' is not on this server"):
        replied(answers, Pushed)
    assert group.status()["pushes"]["sent"] == 0


class Kept:
    """A service that answers no request. fails: whether its ticks raise."""

    def __init__(self, fails=False):
        self.fails = fails

    def tick(self):
        if self.fails:
            raise StorageError("the disk is full")

    def take(self, header, arrays, respond, patience):
        pass

    def rest(self):
        pass


def test_a_dead_server_answers_those_that_wait():
    """The trainer repeats its request to the next life of the server."""
    engine, answers = ThreadEngine(), []
    engine.serve({"server 0": lambda link: Kept()})
    engine.post(Envelope("server 0", b"", [], 60.0), answers.append, 60.0)
    engine.kill("server 0")
    assert isinstance(answers[0], Gone)
    engine.stop()


def test_a_server_that_can_not_begin_again_takes_no_request():
    """A request that it kept would have no answer when the next attempt replaces it."""
    engine, lives, answers = ThreadEngine(), [Kept(), Kept(fails=True), Kept()], []
    engine.serve({"server 0": lambda link: lives.pop(0)})
    engine.kill("server 0")
    with pytest.raises(StorageError):
        engine.restart("server 0")
    engine.post(Envelope("server 0", b"", [], 60.0), answers.append, 60.0)
    assert isinstance(answers[0], Gone)
    engine.restart("server 0")
    engine.post(Envelope("server 0", b"", [], 60.0), answers.append, 60.0)
    assert len(answers) == 1
    engine.stop()
