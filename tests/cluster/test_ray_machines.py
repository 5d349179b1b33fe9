"""Trainers of a job run on different machines of a Ray cluster."""

import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("ray")
MACHINES, JOBS = 4, 2
SCRIPT = textwrap.dedent("""
    import sys, tempfile
    import numpy as np
    import paddle_mini as pm
    import ray
    from ray.cluster_utils import Cluster

    def train():
        x = pm.layers.data("x", shape=[-1, 3])
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.fc(x, 1)))
        exe = pm.Executor()
        exe.run(pm.default_startup_program())
        pm.cluster.join(exe=exe).run({"x": np.ones((2, 3), "float32")})
        return ray.get_runtime_context().get_node_id()

    machines, jobs = map(int, sys.argv[1:])
    cluster = Cluster()
    for _ in range(machines):
        cluster.add_node(num_cpus=1, object_store_memory=100_000_000, include_dashboard=False)
    ray.init(cluster.address, log_to_driver=False)
    for _ in range(jobs):
        with tempfile.TemporaryDirectory() as directory:
            result = pm.cluster.run(train, trainers=machines, servers=2, engine="ray", directory=directory)
        print(len(set(result.returned)), flush=True)
    ray.shutdown()
    cluster.shutdown()
""")


def test_each_machine_has_a_trainer():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("RAY_ADDRESS", None)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(MACHINES), str(JOBS)], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.stdout.split() == [str(MACHINES)] * JOBS, done.stderr[-2000:]
