"""A job in collective mode that is stopped, by Ctrl-C or by the failure of a trainer, continues as if it had not been."""

import logging
import os
import signal
import threading
import time

import numpy as np
import pytest

import paddle_mini as pm
from chaotic_engine import ChaoticThreads
from cluster_jobs import batch, begun, classifier, everything
from cluster_moments import TIMEOUT, at, reach
from live_threads import threads
from paddle_mini.cluster import TrainerFailed
from paddle_mini.cluster.thread_engine import ThreadEngine
from paddle_mini.cluster.trainers.host_gradients import HostGradients
from small_model import assert_same_bits

SEEDS = int(os.environ.get("PM_CHAOS_SEEDS", "6"))
END = 9
"""Steps of the job."""


def trains(folder, stops_at=None, fails=()):
    """Trains until the job has made END steps; a schedule counts them. At a step one trainer comes to a moment, at which the test
    acts, or trainers of these numbers fail."""
    rate = pm.lr.ExponentialDecay(0.02, 0.9)
    _, _, loss = classifier(
        lambda loss: pm.optimizer.ParameterAverage(pm.optimizer.Adam(rate), pm.averaging.Uniform()).minimize(loss)
    )
    trainer = begun()
    first = rate.last_epoch
    while (step := rate.last_epoch) < END:
        if step == stops_at:
            if trainer.number in fails:
                raise ValueError("what was read is wrong")
            if not fails and trainer.number == 0:
                reach(folder / "moment")
        begin = 16 * step + 8 * trainer.number
        trainer.run(batch(begin, begin + 8), [loss])
        rate.step()
    return everything(), first


def run(engine, directory, *args, **settings):
    return pm.cluster.run(trains, 2, None, "collective", engine, directory, args, checkpoint_seconds=3600, **settings).returned


def newest(directory):
    return pm.io.CheckpointManager(directory / "trainers").latest()


@pytest.fixture(scope="module")
def expected():
    (values, _), (other, _) = run("threads", None, None)
    assert_same_bits(other, values)
    return values


def resumes(engine, folder, expected, step):
    """The same job, to its end: both trainers begin with the state before this step."""
    assert newest(folder / "job") == step
    for values, first in run(engine, folder / "job", folder):
        assert first == step
        assert_same_bits(values, expected)
    assert newest(folder / "job") == END


def test_it_continues_after_ctrl_c_with_the_bits_of_one_that_was_not_stopped(engine, tmp_path, expected):
    """One trainer is in a function of the user meanwhile, the other one waits for it."""
    before = threads()

    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        deadline = time.monotonic() + TIMEOUT
        while newest(tmp_path / "job") is None:
            assert time.monotonic() < deadline, "no trainer has written a checkpoint"
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt), at(tmp_path / "moment", interrupt):
        run(engine(), tmp_path / "job", tmp_path, 5)
    assert threads() <= before
    resumes(engine(), tmp_path, expected, 5)


@pytest.mark.parametrize("fails", [[0], [1], [0, 1]], ids=str)
def test_it_continues_after_trainers_have_failed(engine, tmp_path, expected, fails):
    with pytest.raises(TrainerFailed, match="what was read is wrong"):
        run(engine(), tmp_path / "job", tmp_path, 4, fails)
    resumes(engine(), tmp_path, expected, 4)


def test_it_continues_after_a_trainer_has_died_too_often(engine, tmp_path, expected):
    begun_engine = engine()

    def die():
        begun_engine.kill("trainer 0")

    with pytest.raises(TrainerFailed, match="died, and was restarted 0 times"), at(tmp_path / "moment", die):
        run(begun_engine, tmp_path / "job", tmp_path, 5, restarts=0)
    resumes(engine(), tmp_path, expected, 5)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_messages_that_are_lost_doubled_and_late(seed, tmp_path, expected):
    """Also those of the trainer that fails: then the other one writes, at the latest when the first is taken for lost."""
    with pytest.raises(TrainerFailed, match="what was read is wrong"):
        run(ChaoticThreads(seed, lost=6), tmp_path / "job", tmp_path, 4, [seed % 2], lease=0.4)
    resumes("threads", tmp_path, expected, 4)


def test_a_disk_that_fails_is_told_and_hides_no_error(tmp_path, caplog):
    def in_the_way():
        (tmp_path / "job" / "trainers").write_text("")

    def trains():
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        trainer = begun()
        trainer.run()
        if trainer.number == 1:
            in_the_way()
            raise ValueError("what was read is wrong")
        trainer.run()

    with caplog.at_level(logging.ERROR), pytest.raises(TrainerFailed, match="trainer 1: ValueError: what was read is wrong"):
        pm.cluster.run(trains, 2, None, "collective", directory=tmp_path / "job")
    (told,) = [text for text in caplog.messages if "no checkpoint was written when the job was stopped" in text]
    assert "trainers" in told


def test_a_checkpoint_has_the_schedule_of_its_step(tmp_path):
    engine, begins = ThreadEngine(), []

    def trains():
        rate = pm.lr.ExponentialDecay(0.01, 0.9)
        _, _, loss = classifier(lambda loss: pm.optimizer.Adam(rate).minimize(loss))
        trainer = begun()
        begins.append((trainer._exchange.step_id.step, rate.last_epoch))
        for step in range(4):
            if step == 3 and len(begins) == 1:
                engine.kill("trainer 0")
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
            rate.step()

    pm.cluster.run(trains, 1, None, "collective", engine, tmp_path, checkpoint_seconds=1e-6)
    assert begins == [(0, 0), (3, 3)]


def test_a_step_whose_optimizer_fails_is_not_taken_for_made(monkeypatch, tmp_path):
    """The trainer takes the state of the other one, which has made the step."""
    failed, optimize = [], HostGradients.optimize

    def once(self, *arguments):
        if not failed and threading.current_thread().name == "trainer 1" and pm.global_scope().get("w").item() < -0.25:
            failed.append(self)
            raise MemoryError
        return optimize(self, *arguments)

    def trains():
        w = pm.layers.create_parameter([1], "float32", name="w", default_initializer=pm.initializer.Constant(0.0))
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(w))
        trainer = begun()
        while trainer._exchange.step_id.step < END:
            try:
                trainer.run()
            except MemoryError:
                assert trainer.number == 1
        return pm.global_scope().get("w").item()

    monkeypatch.setattr(HostGradients, "optimize", once)
    one, other = pm.cluster.run(trains, 2, mode="collective").returned
    assert failed and one == other
    np.testing.assert_allclose(one, -0.1 * END, rtol=1e-5)
