"""Processes that are killed during training: no push is applied twice, all are counted, training continues."""

import os
import time

import numpy as np
import pytest

import paddle_mini as pm
from cluster_moments import TIMEOUT, at, die, marked, notes
from paddle_mini.cluster.convert import read_parameters

RUNS = int(os.environ.get("PM_KILL_RUNS", "4"))
"""Runs of each test; 20 and more for a long run."""
TRAINERS, PUSHES = 2, 120
PARTS = ["server 0", "trainer 1", "coordinator", "server 1", "trainer 0"]
GOES_ON = 30.0
"""Seconds in which training must continue after a death, also while the machine compiles: each trainer completes another step."""


def marks(folder, size):
    """With averages of the parameters beside."""
    averaged = pm.optimizer.ParameterAverage(pm.optimizer.SGD(1.0), pm.averaging.Uniform())
    return marked(folder, size, PUSHES, averaged, 0.01)


def wait_until(done, seconds, problem):
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, problem
        time.sleep(0.01)


@pytest.mark.filterwarnings("ignore:.*of different")
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_part_is_killed(seed, engine, tmp_path):
    job_engine, steps = engine(), tmp_path / "steps"
    part, mode = PARTS[seed % len(PARTS)], ("async", "sync")[seed % 2]
    when = np.random.RandomState(seed).randint(4, PUSHES // 2)

    def kill():
        wait_until(lambda: len(notes(steps)) >= when, TIMEOUT, "training does not begin")
        die(job_engine, part)
        before = notes(steps)
        wait_until(
            lambda: all(notes(steps).count(str(number)) > before.count(str(number)) + 1 for number in range(TRAINERS)),
            GOES_ON,
            f"it does not continue without {part}",
        )

    with at(steps, kill):
        result = pm.cluster.run(
            marks,
            TRAINERS,
            2,
            mode,
            job_engine,
            tmp_path / "job",
            [tmp_path, 1 if mode == "async" else TRAINERS],
            checkpoint_seconds=0.1,
            lease=1.0,
        )
    assert result.counts["sent"] == result.counts["applied"] + result.counts["dropped"]
    alone = -1 if mode == "async" else -TRAINERS  # the mean of one gradient, while a trainer is away
    saved = read_parameters(tmp_path / "job")
    for values in (*np.concatenate(result.returned), *saved.values()):
        assert set(np.unique(values)) <= {0, -1, alone}
    averages = read_parameters(tmp_path / "job", average=0)
    for name, values in saved.items():
        assert np.count_nonzero(values) > PUSHES / 4
        assert ((averages[name] <= 0) & (averages[name] >= values)).all() and averages[name].any()
