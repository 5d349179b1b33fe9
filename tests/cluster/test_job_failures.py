"""Jobs whose processes die: the work that continues, the work that is lost and counted, and the messages."""

import threading
import time
from contextlib import ExitStack
from functools import partial

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import ByPasses, alone, batch, begun, classifier, train, values
from cluster_moments import at, die, note, notes, reach, ticket, wait_for
from paddle_mini.cluster import Timeout, TrainerFailed
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.engine import Envelope
from paddle_mini.cluster.protocol import Checkpoint
from paddle_mini.cluster.thread_engine import ThreadEngine
from paddle_mini.cluster.wire import pack, unpack
from raw_messages import PROTOCOL, fields_of, request
from small_model import assert_same_bits


def adam():
    return pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), pm.averaging.Uniform())


def interrupted(steps, when, moment, who=0):
    """Trains, and reaches a moment before step `when` of trainer `who`."""
    _, _, loss = classifier(lambda loss: adam().minimize(loss))
    trainer = begun()
    for step in range(steps):
        if step == when and trainer.number == who:
            reach(moment)
        trainer.run(batch(8 * step, 8 * step + 8), [loss])
    trainer.pull()
    return values()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_server_goes_on_from_its_checkpoint_as_if_nothing_had_been(mode, engine, tmp_path):
    begun_engine = engine()

    def happens():
        Client(begun_engine.link(), "job").request("server 1", Checkpoint())
        die(begun_engine, "server 1")

    expected = alone(train, 8, adam)
    with at(tmp_path / "moment", happens):
        result = pm.cluster.run(interrupted, 1, 3, mode, begun_engine, tmp_path, [8, 4, tmp_path / "moment"])
    assert_same_bits(result.returned[0], expected)
    assert (
        result.counts["lost"] == 0 and result.servers[1]["checkpoints"]["recovered"]["version"] == 3
    )  # the fourth gradient was sent afterwards


def test_what_came_after_the_checkpoint_is_lost_and_counted(engine, tmp_path):
    begun_engine = engine()
    with at(tmp_path / "moment", partial(die, begun_engine, "server 0")):
        result = pm.cluster.run(interrupted, 1, 2, "async", begun_engine, args=[8, 5, tmp_path / "moment"])
    assert result.counts["lost"] == 4  # the fifth gradient was sent afterwards
    assert [one["pushes"]["applied"] for one in result.servers] == [4, 8]


def test_what_is_pushed_again_has_the_pass_that_it_was_made_in(engine, tmp_path):
    """Though the trainer has moved to another one since."""
    job_engine = engine()

    def trained():
        zeros = pm.initializer.Constant(0.0)
        w = pm.layers.create_parameter([3], "float32", name="w", default_initializer=zeros)
        pm.optimizer.SGD(ByPasses()).minimize(pm.layers.reduce_sum(w))
        trainer = begun()
        trainer.run()
        trainer.set_pass(2)
        reach(tmp_path / "moment")
        trainer.run()
        trainer.pull()
        return pm.global_scope().get("w").tolist()

    with at(tmp_path / "moment", partial(die, job_engine, "server 0")):
        result = pm.cluster.run(trained, 1, 1, "sync", job_engine)
    assert result.returned == [[-1.25] * 3] and result.servers[0]["checkpoints"]["recovered"]["version"] == 0


@pytest.mark.parametrize("mode", ["sync", "async", "delta"])
def test_the_coordinator_may_be_away_for_a_while(mode, engine, tmp_path):
    begun_engine = engine()
    expected = pm.cluster.run(train, 1, 2, mode, args=(8, adam)).returned[0]
    with at(tmp_path / "moment", partial(die, begun_engine, "coordinator", 0.2)):
        found = pm.cluster.run(interrupted, 1, 2, mode, begun_engine, args=[8, 4, tmp_path / "moment"]).returned[0]
    assert_same_bits(found, expected)


def test_an_initialiser_that_dies_between_servers_leaves_nothing(tmp_path):
    """On threads, where the moment is known. All servers have the values of one trainer then."""

    class Between(ThreadEngine):
        died = None

        def post(self, request, respond, timeout):
            super().post(request, respond, timeout)
            if self.died is None and fields_of(request.header)["request"] == "finish_init":
                self.died = threading.current_thread().name
                self.kill(self.died)

    def seeded(seed=None):
        classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        begun(ticket(tmp_path) if seed is None else seed).pull()
        return {name: value.tobytes() for name, value in values().items()}

    engine = Between()
    one, other = pm.cluster.run(seeded, 2, 2, "sync", engine, lease=0.5).returned
    assert engine.died is not None and one == other
    assert [alone(seeded, seed) for seed in range(3)].count(one) == 1


GARBAGE = [
    b"",
    b"\xff" * 1000,
    b"[" * 100000,
    b"{}",
    request("another", "push"),
    request("job", "no such thing"),
    pack({"protocol": PROTOCOL + 1, "job": "job", "request": "view"}),
    b" " * (2 << 20),
]


def test_garbage_for_services_of_a_job(engine, tmp_path):
    """Its sender gets an error; the job continues unaffected."""
    job_engine, kinds = engine(), set()

    def send():
        for service in ("coordinator", "server 0", "server 1"):
            for header in GARBAGE:
                for arrays in ([], [np.zeros(3, "int8")], [np.array(["x", None])], None):
                    ((reply, _),) = job_engine.link().send([Envelope(service, header, arrays)], 10.0)
                    kinds.add(unpack(reply)["error"]["kind"])

    with at(tmp_path / "moment", send):
        result = pm.cluster.run(interrupted, 1, 2, "sync", job_engine, args=[6, 3, tmp_path / "moment"])
    assert_same_bits(result.returned[0], alone(train, 6, adam))
    assert kinds == {"malformed", "wrong_job", "wrong_version", "wrong_dtype"}


def test_trainers_may_begin_before_servers(engine):
    class Late(engine):
        def run_trainers(self, *arguments):
            for name in ("coordinator", "server 1"):
                die(self, name, 0.3)
            return super().run_trainers(*arguments)

    result = pm.cluster.run(train, 2, 2, "sync", Late(), args=(3, adam))
    assert result.counts["applied"] == 2 * 2 * 3


@pytest.mark.parametrize("mode", ["sync", "async", "delta"])
def test_a_trainer_that_dies_begins_again(mode, engine, tmp_path):
    begun_engine = engine()
    with at(tmp_path / "moment", partial(die, begun_engine, "trainer 1")):
        result = pm.cluster.run(interrupted, 2, 2, mode, begun_engine, args=[6, 3, tmp_path / "moment", 1])
    counts = result.counts
    assert len(result.returned) == 2 and counts["sent"] == counts["applied"] + counts["dropped"]
    assert all(np.isfinite(value).all() for value in result.returned[0].values())


def test_in_sync_mode_the_others_go_on_without_one_that_is_silent(engine, tmp_path):
    def silent():
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        for step in range(6):
            if step == 3 and trainer.number == 1:
                trainer._process.membership.stop_heartbeat()
                wait_for(tmp_path / "resumed")
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
            note(tmp_path / "steps", trainer.number)
            if step == 5 and trainer.number == 0:
                (tmp_path / "resumed").touch()

    result = pm.cluster.run(silent, 2, 2, "sync", engine(), lease=0.4)
    assert sorted(notes(tmp_path / "steps")) == ["0"] * 6 + ["1"] * 6
    assert result.counts["sent"] == result.counts["applied"] + result.counts["dropped"]


def test_a_trainer_that_dies_too_often_ends_the_job(engine, tmp_path):
    begun_engine = engine()

    def mortal():
        classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        reach(tmp_path / f"life {ticket(tmp_path)}")
        trainer.run(batch(0, 8))

    with ExitStack() as moments:
        for life in range(3):
            moments.enter_context(at(tmp_path / f"life {life}", partial(die, begun_engine, "trainer 0")))
        with pytest.raises(TrainerFailed, match="trainer 0 died, and was restarted 2 times before"):
            pm.cluster.run(mortal, 1, 1, "async", begun_engine, restarts=2)


@pytest.mark.parametrize("part", ["server 1", "coordinator"])
def test_a_part_that_stays_away_is_named(part, tmp_path):
    """On threads, because no other engine leaves it in this state."""
    engine, begin, moment = ThreadEngine(), time.monotonic(), tmp_path / "moment"
    problem = f"trainer 0: Timeout: {part}: no answer in 0.3 s: it does not run"
    with at(moment, partial(engine.kill, part)), pytest.raises(TrainerFailed, match=problem) as caught:
        pm.cluster.run(interrupted, 1, 2, engine=engine, timeout=0.3, args=[3, 1, moment])
    assert isinstance(caught.value.__cause__, Timeout) and time.monotonic() - begin < 10


def test_a_trainer_that_the_others_wait_for_in_vain_is_told_of(engine):
    def waits():
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        if trainer.number == 1:
            time.sleep(1.5)  # it sends heartbeats, and does not train
        for _ in range(2):
            trainer.run(batch(0, 8), [loss])

    with pytest.raises(TrainerFailed, match="trainer 0: Timeout: server 0: it still replies 'wait'"):
        pm.cluster.run(waits, 2, 1, "sync", engine(), wait_timeout=0.4)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_chunks_of_a_trainer_that_dies_are_read_by_another_life(mode, engine, tmp_path):
    begun_engine = engine()

    def reads():
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        trainer = begun()
        for chunk in trainer.batches(list(range(12)), 2):
            if chunk == 5:
                note(tmp_path / "readers", trainer.number)
                reach(tmp_path / "moment")
            trainer.run()
            note(tmp_path / "seen", chunk)

    def happens():
        die(begun_engine, f"trainer {notes(tmp_path / 'readers')[0]}")

    with at(tmp_path / "moment", happens):
        pm.cluster.run(reads, 2, 2, mode, begun_engine)
    seen = notes(tmp_path / "seen")
    assert {int(chunk) for chunk in seen} == set(range(12)) and len(seen) <= 13
