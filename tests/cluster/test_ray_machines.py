"""Trainers of a job run on different machines of a Ray cluster, some of which are lost."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from paddle_mini.cluster.job_settings import JobSettings
from thorough import thorough

ray = pytest.importorskip("ray")
MACHINES = 4
BEGIN = textwrap.dedent("""
    import json, os, signal, sys, tempfile, threading, time
    import numpy as np
    import paddle_mini as pm
    import ray
    from paddle_mini.cluster.ray_engine import RayEngine
    from ray.cluster_utils import Cluster

    def begun():
        x = pm.layers.data("x", shape=[-1, 3])
        loss = pm.layers.mean(pm.layers.fc(x, 1))
        pm.optimizer.SGD(0.1).minimize(loss)
        exe = pm.Executor()
        exe.run(pm.default_startup_program())
        return pm.cluster.join(exe=exe)

    def step(trainer):
        trainer.run({"x": np.ones((2, 3), "float32")})

    def train():
        step(begun())
        return ray.get_runtime_context().get_node_id()

    def wait(folder):
        '''Trains until the file "lost" is there, and then for some more steps.'''
        trainer, steps = begun(), 0
        while steps < 10:
            step(trainer)
            open(f"{folder}/{trainer.number}", "w").close()
            steps += os.path.exists(f"{folder}/lost")
            time.sleep(0.05)
        return ray.get_runtime_context().get_node_id(), pm.num_threads()

    def lose(node, how):
        '''The machine ends; with SIGSTOP its kernel tells no other machine.'''
        raylet = node.all_processes["raylet"][0].process.pid
        with open(f"/proc/{raylet}/task/{raylet}/children") as file:
            workers = [int(word) for word in file.read().split()]
        os.kill(raylet, how)
        for one in workers:
            os.kill(one, signal.SIGKILL)

    def run_and_lose(engine, trainers, nodes, how, victim, **settings):
        '''The result of a job that has lost a machine, and the lives of its processes.'''
        seen = []
        with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as folder:
            def loses():
                while len(os.listdir(folder)) < trainers:
                    time.sleep(0.05)
                lose(next(node for node in nodes if node.node_id == victim(engine)), how)
                open(f"{folder}/lost", "w").close()
            threading.Thread(target=loses, daemon=True).start()
            result = pm.cluster.run(
                wait, trainers, 1, engine=engine, directory=directory, args=[folder], on_status=seen.append, **settings
            )
        last = seen[-1]
        lives = {f"trainer {one.number}": 1 + one.restarts for one in last.trainers}
        return result, lives | {f"server {one.number}": 1 + one.restarts for one in last.servers}

    def add(cluster, cpus=1, **resources):
        return cluster.add_node(
            num_cpus=cpus, object_store_memory=100_000_000, include_dashboard=False, resources=resources
        )
""")
PLACES = BEGIN + textwrap.dedent(f"""
    cluster = Cluster()
    add(cluster, services=2)
    nodes = [add(cluster, spare=4), add(cluster, spare=4), add(cluster)]
    ray.init(cluster.address, log_to_driver=False)
    spread = pm.cluster.run(train, {MACHINES}, 1, engine="ray").returned

    services = {{"resources": {{"services": 1}}}}
    engine = RayEngine(service_options=services, trainer_options={{"resources": {{"spare": 1}}}})
    def victim(engine):
        return ray.get(engine._trainers._actors[0][1])[0]
    result, lives = run_and_lose(engine, 4, nodes, signal.SIGKILL, victim, restarts=1)
    machines, threads = zip(*result.returned)
    counts = result.counts
    print(json.dumps([
        len(set(spread)), len(set(machines)), sorted(threads), sorted(lives.values()),
        counts["sent"] == counts["applied"] and counts["lost"],
    ]), flush=True)
    ray.shutdown()
    cluster.shutdown()
""")


def output(script, **variables):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    for name in ("RAY_ADDRESS", "PM_NUM_THREADS"):
        environment.pop(name, None)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_places_of_trainers_also_after_a_machine_is_lost():
    """Trainers that share a machine share its CPUs. Those of a lost machine are restarted once, at once, elsewhere: for some
    seconds Ray places processes on a machine that it does not know to be lost."""
    (spread, machines, threads, lives, lost), errors = output(PLACES)
    assert spread == MACHINES
    assert threads[-2:] == [max(1, len(os.sched_getaffinity(0)) // 2)] * 2
    assert machines == 1 and lives == [1, 1, 1, 2, 2] and lost == 0
    assert errors.count("died; it is restarted") == 2, errors


VANISHES = BEGIN + textwrap.dedent("""
    cluster = Cluster()
    add(cluster, cpus=0)
    nodes = [add(cluster, spare=2) for _ in range(2)]
    ray.init(cluster.address, log_to_driver=False)
    def victim(engine):
        return ray.get(engine._services["server 0"][0].process.remote())[0]
    engine = RayEngine(service_options={"resources": {"spare": 1}})
    result, lives = run_and_lose(engine, 2, nodes, signal.SIGSTOP, victim, checkpoint_seconds=0.5)
    print(json.dumps([lives, result.counts]), flush=True)
    os._exit(0)
""")


@thorough
def test_a_server_whose_machine_vanishes_is_restarted():
    """With the settings of Ray that docs/cluster.md names; its standard ones take over a minute."""
    noticed = {"period_ms": "1000", "timeout_ms": "2000", "failure_threshold": "3"}
    (lives, counts), _ = output(VANISHES, **{f"RAY_health_check_{name}": value for name, value in noticed.items()})
    assert lives["server 0"] == 2
    assert counts["sent"] == counts["applied"] + counts["dropped"]  # as the server knows it, which may have lost some


def test_a_server_may_be_away_for_longer_than_ray_takes_to_notice_that_a_machine_vanished():
    config = ray._config
    probe = config.health_check_period_ms() + config.health_check_timeout_ms()
    seconds = probe * config.health_check_failure_threshold() / 1000
    assert seconds < JobSettings("job", 1, 1).timeout / 1.5, "and Ray has to start the server"
