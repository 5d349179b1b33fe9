"""Messages lost, duplicated, late and out of order, processes that stop and die, a full disk: no push is applied twice,
and all are counted."""

import ctypes
import itertools
import os

import numpy as np
import pytest

import paddle_mini as pm
from chaotic_engine import ChaoticThreads
from cluster_jobs import begun
from live_threads import threads
from paddle_mini.cluster.convert import read_parameters

SLOTS, STEPS, TRAINERS = 400, 20, 2
SEEDS = int(os.environ.get("PM_CHAOS_SEEDS", "4"))
"""Runs of each of the two tests; 100 and more for a long run."""
WAYS = [("async", 0), ("sync", 0), ("async", 2)]
"""Modes, and how many batches are merged."""
PARTS = ["server 0", "server 1", "trainer 0", "trainer 1", "coordinator"]


def marks(tickets, size, merged):
    """Each push subtracts `size` at a position of its own in two parameters, one at each server, or size / merged at as many
    positions as it merges batches (0: they are not read ahead); returns the parameters."""
    x = pm.layers.data("x", [SLOTS])
    zeros = pm.initializer.Constant(0.0)
    a, b = (pm.layers.create_parameter([SLOTS], "float32", name=name, default_initializer=zeros) for name in "ab")
    pm.optimizer.SGD(1.0).minimize(pm.layers.reduce_sum(a * x) + pm.layers.reduce_sum(b * x))
    trainer = begun()

    def feeds():
        for _ in range(STEPS):
            feed = np.zeros(SLOTS, "float32")
            feed[next(tickets)] = size
            yield {"x": feed}

    for _ in trainer.steps(feeds(), merged=merged) if merged else map(trainer.run, feeds()):
        pass
    trainer.pull()
    return [pm.global_scope().get(name) for name in "ab"]


def run(seed, directory=None, chaos=None, **settings):
    """A job in async mode, with batches that are read ahead, or in sync mode; the result, the number of batches, and each
    trainer's last view of each parameter: 0, or -1 for a batch whose push was applied once."""
    mode, merged = WAYS[seed % 3]
    engine, tickets = ChaoticThreads(seed, **(chaos or {})), itertools.count()
    before = threads()
    arguments = [tickets, max(1, merged) if mode == "async" else TRAINERS, merged]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", engine.fsync)
        result = pm.cluster.run(marks, TRAINERS, 2, mode, engine, directory, arguments, checkpoint_seconds=0.03, **settings)
    assert threads() <= before
    assert engine.deaths == len((chaos or {}).get("deaths", {}))
    return result, next(tickets), [np.min([seen[index] for seen in result.returned], axis=0) for index in range(2)]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_messages_that_are_lost_doubled_and_late(seed):
    result, batches, seen = run(seed)
    assert batches == TRAINERS * STEPS
    pushes = 2 * batches // max(1, WAYS[seed % 3][1])
    assert result.counts["sent"] == result.counts["applied"] == pushes and result.counts["dropped"] == 0
    for places in seen:
        np.testing.assert_array_equal(places, [-1.0] * batches + [0.0] * (SLOTS - batches))


@pytest.mark.parametrize("seed", range(6))
def test_chunks_whose_messages_are_lost_doubled_and_late(seed):
    def reads():
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        trainer, seen = begun(), []
        for chunk in trainer.batches(list(range(15)), 2, passes=2):
            trainer.run()
            seen.append(chunk)
        return seen

    # On a loaded machine a trainer may pause for longer than the usual lease; its chunk would then be handed out again.
    result = pm.cluster.run(reads, 2, 2, ("async", "sync")[seed % 2], ChaoticThreads(seed, lost=8), lease=60.0)
    assert sorted(sum(result.returned, [])) == sorted([*range(15)] * 2)


def test_leases_do_not_end_while_the_machine_has_no_time_for_the_process(caplog):
    """The other tests rest on this. A call that keeps the GIL stops all threads."""

    def stands_still():
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        trainer = begun()
        for _ in range(6):
            trainer.run()
            ctypes.PyDLL(None).usleep(450_000)

    result = pm.cluster.run(stands_still, 1, 1, "async", ChaoticThreads(0, lost=0), lease=0.3)
    assert result.counts["applied"] == result.counts["sent"] == 6
    assert "sent nothing for" not in caplog.text


@pytest.mark.filterwarnings("ignore:.*of different")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_parts_that_stop_and_die_while_the_disk_is_full(seed, tmp_path):
    random = np.random.RandomState(seed)
    times = random.choice(np.arange(20, 100), 7, replace=False).tolist()
    deaths = dict(zip(times, random.choice(PARTS, 3, replace=False)))
    stops = dict(zip(times[3:], random.choice([part for part in PARTS if "trainer" not in part], 2)))
    result, _, seen = run(seed, tmp_path, {"deaths": deaths, "stops": stops, "full": sorted(times[5:])}, lease=1.0, restarts=9)
    counts = result.counts
    assert counts["sent"] == counts["applied"] + counts["dropped"]
    for places in seen:
        alone = -TRAINERS if WAYS[seed % 3][0] == "sync" else -1  # the mean of one gradient, while a trainer is away
        assert set(np.unique(places)) <= {0, -1, alone}
    assert read_parameters(tmp_path).keys() == {"a", "b"}
