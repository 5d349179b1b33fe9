"""A job on a cluster of Ray whose two machines are network namespaces: services on one, trainers on the other, with a cable
that is slow, loses packets and is cut for a while."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from contextlib import suppress

import pytest

from network_machines import SERVER, TRAINER, filtered, machines, ran, tc
from thorough import thorough

pytest.importorskip("ray")
__all__ = ["machines"]
STEPS, CUT, PORT = 200, 2.5, 6379
SCRIPT = textwrap.dedent("""
    import sys, time
    import numpy as np
    import paddle_mini as pm
    from paddle_mini.cluster.ray_engine import RayEngine

    def train(steps):
        import ray
        x = pm.layers.data("x", shape=[-1, 300])
        pm.optimizer.SGD(0.001).minimize(pm.layers.reduce_sum(pm.layers.fc(x, 200, bias_attr=False)))
        exe = pm.Executor()
        exe.run(pm.default_startup_program())
        trainer = pm.cluster.join(exe=exe)
        feed = {"x": np.ones((1, 300), "float32")}
        feeds = (feed for _ in range(steps) if time.sleep(0.02) is None)
        for _ in trainer.steps(feeds, merged=2) if trainer.number else map(trainer.run, feeds):
            pass
        return ray.util.get_node_ip_address()

    address, directory, steps = sys.argv[1:]
    engine = RayEngine(
        address, service_options={"resources": {"services": 1}}, trainer_options={"num_cpus": 0, "resources": {"trainers": 1}}
    )
    result = pm.cluster.run(
        train, 2, 2, engine=engine, directory=directory, args=[int(steps)],
        on_status=lambda now: print("steps", sum(one.steps for one in now.trainers), flush=True), status_seconds=0.2,
    )
    print("ended", result.returned, {**result.counts, "repeated": 0})
""")


@pytest.fixture
def environment():
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": uuid.uuid4().hex}
    ours = {**os.environ, **token, "PYTHONUNBUFFERED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    return {name: value for name, value in ours.items() if name != "RAY_ADDRESS"}


def in_namespace(where, *words):
    return ["ip", "netns", "exec", where, sys.executable, *words]


@pytest.fixture
def address(machines, environment):
    """The address of the head, on the servers' machine; the other machine has joined."""
    folder = f"/tmp/pm_{uuid.uuid4().hex[:8]}"  # names of sockets in it must be short
    options = ["--num-cpus=2", "--object-store-memory=100000000", "--disable-usage-stats", "--block"]
    head = ["--head", f"--port={PORT}", "--include-dashboard=false", f"--temp-dir={folder}", '--resources={"services": 3}']
    other = [f"--address={SERVER}:{PORT}", '--resources={"trainers": 2}']
    begun = []
    try:
        for where, ip, words in ((machines.server, SERVER, head), (machines.trainer, TRAINER, other)):
            command = in_namespace(where, "-m", "ray.scripts.scripts", "start", f"--node-ip-address={ip}", *words, *options)
            one = subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
            )
            begun.append(one)
            said = []
            for line in one.stdout:
                said.append(line)
                if "Ray runtime started" in line:
                    break
            else:
                pytest.fail("".join(["ray start ended:\n", *said[-20:]]))
        yield f"{SERVER}:{PORT}"
    finally:
        for one in reversed(begun):
            with suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGTERM)
            one.communicate(timeout=60)
        ran("rm", "-rf", folder)


def slow(machines):
    """5 ms each way, and 1 % of the packets lost."""
    tc(machines, "netem", "delay", "5ms", "loss", "1%")


def loss(machines):
    """1 % of the packets are lost each way."""
    for where in (machines.server, machines.trainer):
        filtered(machines, where, "numgen", "random", "mod", "100", "lt", "1")


@thorough
@pytest.mark.parametrize("fault", [slow, loss])
def test_a_job_over_a_bad_cable_that_is_cut(machines, address, environment, tmp_path, fault):
    """Pushes count once, with run() and with steps()."""
    fault(machines)
    job = subprocess.Popen(
        in_namespace(machines.server, "-c", SCRIPT, address, str(tmp_path / "job"), str(STEPS)),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for line in job.stdout:
            if line.startswith("steps") and int(line.split()[1]) > STEPS // 4:
                break
        ran("ip", "-n", machines.server, "route", "add", "blackhole", f"{TRAINER}/32")
        time.sleep(CUT)
        ran("ip", "-n", machines.server, "route", "del", "blackhole", f"{TRAINER}/32")
        output, errors = job.communicate(timeout=120)
    finally:
        job.kill()
    assert job.returncode == 0, errors
    ended = re.search(r"ended (.*)", output)[1]
    pushes = 2 * (STEPS + STEPS // 2)
    assert ended == str([TRAINER] * 2) + " " + str({"sent": pushes, "applied": pushes, "dropped": 0, "repeated": 0, "lost": 0})
