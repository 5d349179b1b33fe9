"""A job on threads whose parts die: what goes on, what is lost and counted, and what is told."""
import threading
import time

import numpy as np
import pytest
from cluster_jobs import alone, batch, begun, classifier, threads, train, values
from small_model import assert_same_bits

import paddle_mini as pm
from paddle_mini.cluster import Timeout, TrainerFailed
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.thread_engine import ThreadEngine


def adam():
    return pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), pm.averaging.Uniform())


def die(engine, name, seconds=0.05):
    """The part dies, and is back after so many seconds."""
    engine.kill(name)
    threading.Timer(seconds, engine.restart, [name]).start()


def interrupted(steps, at, happens):
    """Trains, and calls happens(trainer's number) before step `at` of each trainer's first life."""
    _, _, loss = classifier(lambda loss: adam().minimize(loss))
    trainer = begun()
    for step in range(steps):
        if step == at:
            happens(trainer.number)
        trainer.run(batch(8 * step, 8 * step + 8), [loss])
    trainer.pull()
    return values()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_server_goes_on_from_its_checkpoint_as_if_nothing_had_been(mode, tmp_path):
    engine = ThreadEngine()

    def happens(number):
        Client(engine.link(), "job").ask("server 1", "checkpoint")
        die(engine, "server 1")

    expected = alone(train, 8, adam)
    result = pm.cluster.run(interrupted, 1, 3, mode, engine, tmp_path, [8, 4, happens])
    assert_same_bits(result.returned[0], expected)
    assert result.counts["lost"] == 0 and result.servers[1]["checkpoints"]["recovered"]["version"] == 4


def test_what_came_after_the_checkpoint_is_lost_and_counted():
    engine = ThreadEngine()
    result = pm.cluster.run(interrupted, 1, 2, "async", engine, args=[8, 5, lambda number: die(engine, "server 0")])
    assert result.counts["lost"] == 5
    assert [one["pushes"]["applied"] for one in result.servers] == [3, 8]


@pytest.mark.parametrize("mode", ["sync", "async", "delta"])
def test_the_coordinator_may_be_away_for_a_while(mode):
    engine = ThreadEngine()
    expected = pm.cluster.run(train, 1, 2, mode, args=(8, adam)).returned[0]
    happens = lambda number: die(engine, "coordinator", 0.2)  # noqa: E731
    assert_same_bits(pm.cluster.run(interrupted, 1, 2, mode, engine, args=[8, 4, happens]).returned[0], expected)


def test_trainers_may_begin_before_servers():
    class Late(ThreadEngine):
        def run_trainers(self, work, count, restarts):
            for name in ("coordinator", "server 1"):
                die(self, name, 0.3)
            return super().run_trainers(work, count, restarts)

    result = pm.cluster.run(train, 2, 2, "sync", Late(), args=(3, adam))
    assert result.counts["applied"] == 2 * 2 * 3


@pytest.mark.parametrize("mode", ["sync", "async", "delta"])
def test_a_trainer_that_dies_begins_again(mode):
    engine, died = ThreadEngine(), []

    def happens(number):
        if number == 1 and not died:
            died.append(number)
            engine.kill("trainer 1")

    result = pm.cluster.run(interrupted, 2, 2, mode, engine, args=[6, 3, happens])
    counts = result.counts
    assert died and len(result.returned) == 2 and counts["sent"] == counts["applied"] + counts["dropped"]
    for name, value in result.returned[0].items():
        assert np.isfinite(value).all()


def test_in_sync_mode_the_others_go_on_without_one_that_is_silent():
    engine, away, gone_on = ThreadEngine(), threading.Event(), threading.Event()
    steps = []

    def silent():
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        for step in range(6):
            if step == 3 and trainer.number == 1:
                trainer._part.membership.fall_silent()
                away.set()
                assert gone_on.wait(20)
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
            steps.append(trainer.number)
            if step == 5 and trainer.number == 0:
                gone_on.set()

    result = pm.cluster.run(silent, 2, 2, "sync", engine, lease=0.4)
    assert steps.count(0) == steps.count(1) == 6
    assert result.counts["sent"] == result.counts["applied"] + result.counts["dropped"]


def test_a_trainer_that_dies_too_often_ends_the_job():
    engine = ThreadEngine()

    def mortal():
        classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        engine.kill(f"trainer {trainer.number}")
        trainer.run(batch(0, 8))

    before = threads()
    with pytest.raises(TrainerFailed, match="trainer 0 died, and was begun again 2 times before"):
        pm.cluster.run(mortal, 1, 1, engine=engine, restarts=2)
    assert threads() == before


@pytest.mark.parametrize("part", ["server 1", "coordinator"])
def test_a_part_that_stays_away_is_named(part):
    engine = ThreadEngine()
    begin = time.monotonic()
    problem = f"trainer 0: Timeout: {part}: no answer in 0.3 s: it is not there"
    with pytest.raises(TrainerFailed, match=problem) as caught:
        pm.cluster.run(interrupted, 1, 2, engine=engine, timeout=0.3, args=[3, 1, lambda number: engine.kill(part)])
    assert isinstance(caught.value.__cause__, Timeout) and time.monotonic() - begin < 10


def test_a_trainer_that_the_others_wait_for_in_vain_is_told_of():
    def waits():
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        if trainer.number == 1:
            time.sleep(1.5)  # it beats, and does not train
        for _ in range(2):
            trainer.run(batch(0, 8), [loss])

    with pytest.raises(TrainerFailed, match="trainer 0: Timeout: server 0: what it was asked for is not there"):
        pm.cluster.run(waits, 2, 1, "sync", wait_timeout=0.4)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_chunks_of_a_trainer_that_dies_are_read_by_another_life(mode):
    engine, died, seen = ThreadEngine(), [], []

    def reads():
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        trainer = begun()
        for chunk in trainer.batches(list(range(12)), 2):
            if chunk == 5 and not died:
                died.append(chunk)
                engine.kill(f"trainer {trainer.number}")
            trainer.run()
            seen.append(chunk)

    pm.cluster.run(reads, 2, 2, mode, engine, lease=1.0)
    assert died and set(seen) == set(range(12)) and len(seen) <= 13
