"""Collective mode on threads whose processes die, are lost and restart, and jobs that resume: the same bits for all."""

import os
import threading
import time

import numpy as np
import pytest

import paddle_mini as pm
from chaotic_engine import ChaoticThreads
from cluster_jobs import batch, begun, classifier, everything
from live_threads import threads
from paddle_mini.cluster import Timeout, TrainerFailed
from paddle_mini.cluster.thread_engine import ThreadEngine
from small_model import assert_same_bits

SEEDS = int(os.environ.get("PM_CHAOS_SEEDS", "8"))
CHUNKS = 12


def adam():
    return pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), pm.averaging.Uniform())


def reading(happens, chunks=CHUNKS):
    """Trains on chunks that are assigned to one trainer each; happens(number of the trainer, chunk) is called before
    each. Returns the final values of all trainers, and the chunks."""
    _, _, loss = classifier(lambda loss: adam().minimize(loss))
    trainer, seen = begun(), []
    for chunk in trainer.batches(list(range(chunks))):
        happens(trainer.number, chunk)
        trainer.run(batch(8 * chunk, 8 * chunk + 8), [loss])
        seen.append(chunk)
    trainer.pull()
    return everything(), seen


def steps(count, happens):
    """Trains on shares of a batch, two trainers; happens(number of the trainer, step) is called before each."""
    _, _, loss = classifier(lambda loss: adam().minimize(loss))
    trainer = begun()
    for step in range(count):
        happens(trainer.number, step)
        begin = 16 * step + 8 * trainer.number
        trainer.run(batch(begin, begin + 8), [loss])
    return everything()


def nothing(number, step):
    pass


def run(happens, trainers=3, engine=None, function=reading, more=(), **settings):
    args = (happens, *more) if function is reading else (*more, happens)
    before = threads()
    result = pm.cluster.run(function, trainers, mode="collective", engine=engine or ThreadEngine(), args=args, **settings)
    assert threads() <= before
    return result


def assert_all_same(result):
    for values, _ in result.returned:
        assert_same_bits(values, result.returned[0][0])
    assert all(np.isfinite(value).all() for value in result.returned[0][0].values())


def once(at, does):
    """Calls does() when a trainer first reaches (number, step)."""
    left = [at]

    def happens(number, step):
        if (number, step) in left or (None, step) in left:
            left.clear()
            does(number)

    return happens


def die(engine, name, seconds=0.05):
    engine.kill(name)
    threading.Timer(seconds, engine.restart, [name]).start()


def test_a_trainer_that_dies_begins_again_with_the_state_of_the_others():
    engine = ThreadEngine()
    result = run(once((None, 5), lambda number: engine.kill(f"trainer {number}")), engine=engine, lease=0.5)
    assert_all_same(result)
    seen = sum((seen for _, seen in result.returned), [])
    assert set(range(CHUNKS)) - set(seen) <= set(range(5)), "what it had before it died is in no list"
    values = result.returned[0][0]
    counter = next(value for name, value in values.items() if "beta1_pow" in name)
    assert counter < 0.9**4, "the optimizer's state came along"


def test_a_trainer_that_ends_early_is_not_waited_for():
    def uneven(count):
        _, _, loss = classifier(lambda loss: adam().minimize(loss))
        trainer = begun()
        for step in range(count * (trainer.number + 1)):
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
        return everything()

    result = pm.cluster.run(uneven, 2, mode="collective", args=(3,), wait_timeout=20)
    assert result.counts["applied"] == 3 + 6
    one, other = result.returned
    assert one["fc_0.w_0"].tobytes() != other["fc_0.w_0"].tobytes()


def test_a_coordinator_that_dies_changes_nothing_of_the_result():
    expected = run(nothing, 2, function=steps, more=[8]).returned[0]
    engine = ThreadEngine()
    result = run(once((1, 4), lambda number: die(engine, "coordinator")), 2, engine, steps, [8])
    for values in result.returned:
        assert_same_bits(values, expected)


@pytest.mark.parametrize("missed", [1, 3])
def test_the_others_go_on_without_one_that_is_silent_and_it_takes_their_state(missed):
    gone_on, engine = threading.Event(), ThreadEngine()

    def silent(count):
        _, _, loss = classifier(lambda loss: adam().minimize(loss))
        trainer = begun()
        for step in range(count):
            if step == 2 and trainer.number == 1:
                trainer._membership.stop_heartbeat()
                assert gone_on.wait(20)
            if step == 2 + missed and trainer.number == 0:
                gone_on.set()
                while 1 not in engine._served["coordinator"].service._rendezvous._waiting:
                    time.sleep(0.01)
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
        return trainer._exchange.step_id.step

    ended, other_ended = pm.cluster.run(silent, 2, None, "collective", engine, args=(8,), lease=0.4).returned
    assert ended == 8 and other_ended == 8 + missed, "none of its batches was left out, and none counts twice"


class DiesWhenAsked(ThreadEngine):
    """Trainer 2 dies when it is first asked for `what`, by a trainer of `askers`."""

    def __init__(self, what, askers):
        super().__init__()
        self._what, self._askers, self.asked = f'"{what}"'.encode(), askers, []

    def post(self, request, respond, timeout):
        if request.service == "trainer 2" and self._what in request.header and len(self.asked) < self._askers:
            self.asked.append(threading.current_thread().name)
            if len(self.asked) == self._askers:
                self.kill("trainer 2")
        super().post(request, respond, timeout)


@pytest.mark.parametrize("what, askers", [("get_gradient", 1), ("get_gradient", 2), ("get_mean", 1), ("get_mean", 2)])
def test_a_trainer_dies_in_the_middle_of_a_step(what, askers, monkeypatch):
    """When a step is decided, and none, one or both of the others have read what they need."""
    if what == "get_gradient":  # which is read without a request where it can be
        monkeypatch.setattr(os, "memfd_create", no_memory)

    def some(count):
        _, _, loss = classifier(lambda loss: adam().minimize(loss))
        trainer = begun()
        first = trainer._exchange.step_id.step
        while trainer._exchange.step_id.step < count:
            step = trainer._exchange.step_id.step
            trainer.run(batch(24 * step + 8 * trainer.number, 24 * step + 8 * trainer.number + 8), [loss])
        return everything(), first

    engine = DiesWhenAsked(what, askers)
    result = pm.cluster.run(some, 3, None, "collective", engine, args=(5,), lease=0.5)
    assert len(engine.asked) == askers
    assert_all_same(result)
    assert [first for _, first in result.returned[:2]] == [0, 0], "the others continued"
    counter = next(value for name, value in result.returned[0][0].items() if "beta1_pow" in name)
    np.testing.assert_allclose(counter, 0.9 ** (5 + 1), rtol=1e-5)
    counts = result.counts
    assert counts["sent"] == counts["applied"] + counts["dropped"] and counts["dropped"] <= 2


def no_memory(*_):
    raise OSError("no memory")


def test_trainers_that_can_not_read_the_memory_of_others_get_copies(monkeypatch):
    expected = run(nothing, 2, function=steps, more=[6]).returned[0]
    monkeypatch.setattr(os, "memfd_create", no_memory)
    for values in run(nothing, 2, function=steps, more=[6]).returned:
        assert_same_bits(values, expected)


def counted(steps, rate, share):
    """Continues training from the job's state; the schedule shows the steps done."""
    _, _, loss = classifier(lambda loss: pm.optimizer.Adam(rate).minimize(loss))
    trainer = begun()
    for _ in range(steps):
        begin = 24 * rate.last_epoch + 24 // share * trainer.number
        trainer.run(batch(begin, begin + 24 // share), [loss])
        rate.step()
    return everything()


def scheduled(steps, share=1):
    return counted(steps, pm.lr.ExponentialDecay(0.01, 0.9), share)


def test_a_job_goes_on_from_its_checkpoint_as_if_it_had_not_ended(tmp_path):
    expected = pm.cluster.run(scheduled, 2, mode="collective", args=(7, 2)).returned[0]
    for steps in (3, 0, 4):
        returned = pm.cluster.run(scheduled, 2, mode="collective", directory=tmp_path, args=(steps, 2)).returned
        assert_same_bits(returned[1], returned[0])
    assert_same_bits(returned[0], expected)


def test_checkpoints_are_written_as_time_goes_by(tmp_path):
    def watching():
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        for step in range(3):
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
        return pm.io.CheckpointManager(tmp_path / "trainers").latest()

    assert pm.cluster.run(watching, 1, mode="collective", directory=tmp_path, checkpoint_seconds=1e-6).returned == [2]


def test_all_trainers_may_die_and_the_job_goes_on_from_its_checkpoint(tmp_path):
    engine, killed = ThreadEngine(), []

    def happens(number, step):
        if step == 5 and number not in killed:
            killed.append(number)
            engine.kill(f"trainer {number}")

    result = run(happens, 2, engine, steps, [8], directory=tmp_path, checkpoint_seconds=1e-6, lease=0.3)
    assert sorted(killed) == [0, 1]
    made = pm.io.CheckpointManager(tmp_path / "trainers").latest()
    assert made >= 5 + 8, "five steps before, eight of the second lives, which a trainer may make alone for a moment"
    for values in result.returned:
        assert all(np.isfinite(value).all() for value in values.values())


def test_one_that_the_others_wait_for_in_vain_is_told_of():
    def waits():
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        if trainer.number == 1:
            threading.Event().wait(1.5)  # it sends heartbeats, and does not train
        for _ in range(2):
            trainer.run(batch(0, 8), [loss])

    with pytest.raises(TrainerFailed, match="trainer 0: Timeout: coordinator: it still replies 'wait'") as caught:
        pm.cluster.run(waits, 2, mode="collective", wait_timeout=0.4)
    assert isinstance(caught.value.__cause__, Timeout)


def test_a_checkpoint_that_can_not_be_written_is_told_at_the_end(tmp_path):
    def in_the_way(number):
        (tmp_path / "trainers").write_text("")

    with pytest.raises(TrainerFailed, match="StorageError: .*trainers"):
        run(once((0, 0), in_the_way), 1, function=steps, more=[2], directory=tmp_path, checkpoint_seconds=1e-6)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_messages_that_are_lost_doubled_and_late(seed):
    expected = run(nothing, 2, function=steps, more=[4]).returned[0]
    result = run(nothing, 2, ChaoticThreads(seed, lost=5), steps, [4])
    for values in result.returned:
        assert_same_bits(values, expected)
    counts = result.counts
    assert counts["sent"] == counts["applied"] == 4 * 2


@pytest.mark.parametrize("seed", range(SEEDS))
def test_parts_that_die(seed, tmp_path):
    random = np.random.RandomState(seed)
    parts = ["trainer 0", "trainer 1", "trainer 2", "coordinator"]
    times = random.choice(np.arange(20, 200), 4, replace=False)
    deaths = {int(at): name for at, name in zip(times, random.choice(parts, 4, replace=False))}
    engine = ChaoticThreads(seed, deaths=deaths)
    result = run(nothing, 3, engine, directory=tmp_path, lease=0.4, restarts=9, checkpoint_seconds=0.03)
    assert_all_same(result)
    assert pm.io.CheckpointManager(tmp_path / "trainers").latest() is not None
