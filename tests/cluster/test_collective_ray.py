"""Collective mode on Ray: the same bits as on threads, also when processes are killed."""

import os
import signal
import sys
import threading
import time

import pytest

import cluster_jobs
import paddle_mini as pm
from cluster_jobs import batch, begun, classifier, values
from small_model import assert_same_bits

ray = pytest.importorskip("ray")
RayEngine = pytest.importorskip("paddle_mini.cluster.ray_engine").RayEngine
for module in (cluster_jobs, sys.modules[__name__]):
    ray.cloudpickle.register_pickle_by_value(module)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    handler = signal.getsignal(signal.SIGTERM)
    if not ray.is_initialized():
        ray.init("local", include_dashboard=False)
    yield
    ray.shutdown()
    signal.signal(signal.SIGTERM, handler)


def steps(count, happens=None):
    """Trains on shares of a batch, two trainers; happens(number of the trainer, step) is called before each."""
    _, _, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
    trainer = begun()
    for step in range(count):
        if happens is not None:
            happens(trainer.number, step)
        begin = 16 * step + 8 * trainer.number
        trainer.run(batch(begin, begin + 8), [loss])
    return values()


def chunks(mark):
    """Trains on chunks that are assigned to one trainer each; one of them kills itself, once."""
    _, _, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
    trainer, seen = begun(), []
    for chunk in trainer.batches(list(range(12))):
        if chunk == 5 and not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        trainer.run(batch(8 * chunk, 8 * chunk + 8), [loss])
        seen.append(chunk)
    trainer.pull()
    return values(), seen


def run(function, *args, engine=None, **settings):
    engine = engine or RayEngine()
    return pm.cluster.run(function, 2, mode="collective", engine=engine, args=args, **settings)


@pytest.fixture(scope="module")
def expected():
    return run(steps, 8, engine="threads").returned[0]


def test_the_bits_are_those_of_threads(expected):
    result = run(steps, 8)
    for one in result.returned:
        assert_same_bits(one, expected)
    assert result.counts == {"sent": 16, "applied": 16, "dropped": 0, "repeated": 0, "lost": 0}


def test_a_coordinator_that_is_killed_changes_nothing_of_the_result(expected, tmp_path):
    engine, mark = RayEngine(), str(tmp_path / "mark")

    def happens(number, step):
        if (number, step) == (1, 4):
            open(mark, "w").close()

    def kill():
        while not os.path.exists(mark):
            time.sleep(0.005)
        engine.kill("coordinator")

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    for one in run(steps, 8, happens, engine=engine).returned:
        assert_same_bits(one, expected)
    killer.join(10)
    assert not killer.is_alive()


def test_a_trainer_that_is_killed_begins_again_with_the_state_of_the_other(tmp_path):
    mark = str(tmp_path / "mark")
    (one, seen), (other, others) = run(chunks, mark, lease=2.0).returned
    assert_same_bits(other, one)
    assert os.path.exists(mark) and set(range(5, 12)) <= {*seen, *others}
