"""Jobs on Ray whose network stops, whose connections are cut, and whose processes hang and die: no push is applied twice,
all are counted, training continues."""

import os
import signal
import sys
import time

import numpy as np
import pytest

import cluster_moments
import paddle_mini as pm
from cluster_moments import TIMEOUT, at, marked, notes
from tcp_tap import Tap

ray = pytest.importorskip("ray")
ray_engine = pytest.importorskip("paddle_mini.cluster.ray_engine")
for module in (cluster_moments, sys.modules[__name__]):
    ray.cloudpickle.register_pickle_by_value(module)

pytestmark = pytest.mark.usefixtures("ray_cluster")

SEEDS = int(os.environ.get("PM_CHAOS_SEEDS", "2"))
TRAINERS, PUSHES, GOES_ON = 2, 120, 45.0  # a machine that compiles restarts a process of Ray in more than 10 s
SERVICES = ["server 0", "server 1", "coordinator"]


class Partitions(ray_engine.RayEngine):
    """Services are reached, until they restart, through connections that a test can stop and cut."""

    def __init__(self):
        super().__init__(local_sockets=False)
        self.taps = {}

    def run_trainers(self, *arguments):
        for name, address in self._addresses.items():
            host, port = address.remote.removeprefix("tcp://").split(":")
            self.taps[name] = Tap(host, int(port))
            self._addresses[name] = address._replace(remote=f"tcp://{host}:{self.taps[name].port}")
        return super().run_trainers(*arguments)

    def stop(self):
        super().stop()
        for tap in self.taps.values():
            tap.close()

    def hang(self, name, seconds):
        """Stops the process of a service for a while."""
        process = self.process(name)
        os.kill(process, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(process, signal.SIGCONT)

    def process(self, name):
        """The process id of a service, which may be restarting."""
        deadline = time.monotonic() + GOES_ON
        while True:
            try:
                return ray.get(self._services[name][0].process.remote())[1]
            except ray.exceptions.ActorUnavailableError:
                assert time.monotonic() < deadline, f"{name} is not restarted"
                time.sleep(0.05)


def marks(folder, size):
    return marked(folder, size, PUSHES, pm.optimizer.SGD(1.0), 0.02)


@pytest.mark.filterwarnings("ignore:.*of different")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_network_that_stops_and_parts_that_hang_and_die(seed, tmp_path):
    engine, steps, random = Partitions(), tmp_path / "steps", np.random.RandomState(seed)
    mode = ("async", "sync")[seed % 2]

    def happens():
        for _ in range(3):
            if len(notes(steps)) > PUSHES // 2:  # the job must not end before it has recovered
                return
            name, what = random.choice(SERVICES), random.choice(["stop", "cut", "hang", "kill"])
            seconds = random.uniform(0.2, 1.5)
            if what == "stop":
                engine.taps[name].stop()
                time.sleep(seconds)
                engine.taps[name].go_on()
            elif what == "cut":
                engine.taps[name].cut()
            elif what == "hang":
                engine.hang(name, seconds)
            else:
                os.kill(engine.process(name), signal.SIGKILL)
            before, deadline = len(notes(steps)), time.monotonic() + GOES_ON
            while len(notes(steps)) < min(before + 2 * TRAINERS, PUSHES):
                assert time.monotonic() < deadline, f"it does not continue after {what} of {name}"
                time.sleep(0.01)

    with at(steps, happens):
        size = 1 if mode == "async" else TRAINERS
        result = pm.cluster.run(
            marks,
            TRAINERS,
            2,
            mode,
            engine,
            tmp_path / "job",
            [tmp_path, size],
            checkpoint_seconds=0.1,
            lease=4.0,
            timeout=TIMEOUT,
        )
    counts = result.counts
    assert counts["sent"] == counts["applied"] + counts["dropped"] and counts["applied"] > PUSHES / 2
    alone = -1 if mode == "async" else -TRAINERS  # the mean of one gradient, while a trainer is away
    for values in np.concatenate(result.returned):
        assert set(np.unique(values)) <= {0, -1, alone}
