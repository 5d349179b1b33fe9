"""Data that a Loader reads ahead in a thread of its own, and steps of several threads: each step counts once."""

import threading

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import alone, begun
from paddle_mini.cluster import Malformed

MODES = ["async", "sync", "delta", "collective"]


def sum_of_fed():
    """Each step adds to w what is fed; the loss."""
    x = pm.layers.data("x", [1], dtype="float64")
    w = pm.layers.create_parameter([1], "float64", name="w", default_initializer=pm.initializer.Constant(0.0))
    loss = pm.layers.reduce_sum(-1.0 * x * w)
    pm.optimizer.SGD(1.0).minimize(loss)
    return loss


def reads_ahead(count, stop, steps):
    """Reads chunks with a Loader; returns how many steps it has made."""
    loss = sum_of_fed()
    trainer = begun()
    loader = pm.data.Loader(lambda: trainer.batches(range(count))).map(lambda chunk: {"x": np.ones(1)}).prefetch(8, workers=2)
    made = 0
    for _ in trainer.steps(loader, [loss], merged=2) if steps else (trainer.run(feed, [loss]) for feed in loader):
        made += 1
        if made == stop and trainer.number == 0:
            break
    trainer.pull()
    return made


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_a_loader_reads_ahead(mode, steps, engine):
    result = pm.cluster.run(reads_ahead, 2, None, mode, engine(), args=[400, None, steps])
    assert sum(result.returned) >= 400
    assert result.counts["dropped"] == result.counts["repeated"] == result.counts["lost"] == 0
    if mode != "async" or not steps:
        assert result.counts["applied"] == sum(result.returned)


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_that_is_left_early(mode, engine):
    """The thread of its loader does not bring the trainer back into the job, which would wait for it."""
    made = pm.cluster.run(reads_ahead, 2, None, mode, engine(), args=[60, 3, False], wait_timeout=30).returned
    assert made[0] == 3 and made[1] >= 40


@pytest.mark.parametrize("is_alone", [True, False])
def test_chunks_that_come_from_a_generator(is_alone):
    """Each pass has all of them."""

    def reads():
        sum_of_fed()
        return list(begun().batches((number for number in range(3)), passes=2))

    assert (alone(reads) if is_alone else pm.cluster.run(reads).returned[0]) == [0, 1, 2] * 2


@pytest.mark.parametrize("is_alone", [True, False])
def test_chunks_that_can_not_be_meant(is_alone):
    def reads():
        sum_of_fed()
        trainer = begun()
        for chunks in ("part-0.csv", b"part", {"part": 1}, 3):
            with pytest.raises(Malformed, match=r"batches\(\) takes a list of chunks, not .*: for one chunk, write \[chunk\]"):
                next(trainer.batches(chunks))
        for passes in (-1, 1.0, "2", True):
            with pytest.raises(Malformed, match="passes is .*, it must be an integer, at least 0"):
                next(trainer.batches([1], passes=passes))
        return list(trainer.batches([1], passes=np.int64(0)))

    assert (alone(reads) if is_alone else pm.cluster.run(reads).returned[0]) == []


@pytest.mark.parametrize("mode", MODES)
def test_steps_of_several_threads(mode):
    """They are made one after another."""

    def counts():
        sum_of_fed()
        trainer = begun()
        threads = [threading.Thread(target=lambda: [trainer.run({"x": np.ones(1)}) for _ in range(20)]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        trainer.pull()
        return pm.global_scope().get("w").item()

    assert pm.cluster.run(counts, 1, mode=mode).returned == [60.0]
