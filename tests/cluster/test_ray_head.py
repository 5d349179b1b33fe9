"""The head of a Ray cluster dies: the job ends with an error, and resumes from its directory later."""

import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
import uuid
from contextlib import contextmanager, suppress

import pytest

from thorough import thorough

pytest.importorskip("ray")
SCRIPT = textwrap.dedent("""
    import sys, time
    import numpy as np
    import paddle_mini as pm
    from paddle_mini.cluster.ray_engine import RayEngine

    def train(steps, pause):
        x = pm.layers.data("x", shape=[-1, 3])
        loss = pm.layers.mean(pm.layers.fc(x, 1))
        pm.optimizer.SGD(0.1).minimize(loss)
        exe = pm.Executor()
        exe.run(pm.default_startup_program())
        trainer = pm.cluster.join(exe=exe)
        for step in range(steps):
            trainer.run({"x": np.ones((2, 3), "float32")}, [loss])
            time.sleep(pause)

    address, directory, steps = sys.argv[1:]
    try:
        result = pm.cluster.run(
            train, 2, 1, engine=RayEngine(address), directory=directory, args=(int(steps), 0.02), checkpoint_seconds=1.0,
            on_status=lambda now: print("steps", sum(one.steps for one in now.trainers), flush=True), status_seconds=0.2,
        )
        print("version", result.servers[0]["version"])
    except pm.Error as error:
        sys.exit(f"{type(error).__name__}: {error}")
""")


def commands():
    """The command lines of all processes, by number."""
    found = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{number}/cmdline", "rb") as file:
            found[int(number)] = file.read().replace(b"\0", b" ").decode(errors="replace")
    return found


def kill(of, *kinds):
    """Kills the processes of one cluster, by what is in their command lines."""
    for number, command in commands().items():
        if of in command and (not kinds or any(kind in command for kind in kinds)) and number != os.getpid():
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


@contextmanager
def cluster(environment):
    """A head of Ray, with a token, on a free port: its address, and the folder that its processes name."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = f"/tmp/pm_{uuid.uuid4().hex[:8]}"  # names of sockets in it must be short
    options = ["--num-cpus=4", "--object-store-memory=100000000", "--include-dashboard=false", "--disable-usage-stats"]
    start = ["start", "--head", "--node-ip-address=127.0.0.1", f"--port={port}", f"--temp-dir={folder}", *options]
    try:
        begun = subprocess.run(
            [sys.executable, "-m", "ray.scripts.scripts", *start], env=environment, capture_output=True, text=True, timeout=120
        )
        address = re.search(r"--address='([^']+)'", begun.stdout + begun.stderr)
        assert begun.returncode == 0 and address, begun.stderr
        yield address[1], folder
    finally:
        kill(folder)
        subprocess.run(["rm", "-rf", folder], check=True)


@pytest.fixture
def environment():
    with_token = {**os.environ, "RAY_AUTH_TOKEN": uuid.uuid4().hex, "PYTHONUNBUFFERED": "1"}
    return {name: value for name, value in with_token.items() if name not in ("RAY_AUTH_MODE", "RAY_ADDRESS")}


def begin(environment, *arguments):
    script = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    return subprocess.Popen(script, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@thorough
def test_the_job_ends_with_an_error_and_resumes_later(tmp_path, environment):
    with cluster(environment) as (address, folder):
        job = begin(environment, address, tmp_path / "job", 100_000)
        for line in job.stdout:
            if line.startswith("steps") and int(line.split()[1]) > 100 and list((tmp_path / "job").glob("**/*.ckpt")):
                break
        kill(folder, "gcs_server", "raylet")
        begun = time.monotonic()
        _, errors = job.communicate(timeout=60)
        assert time.monotonic() - begun < 30 and job.returncode == 1, errors
        assert errors.splitlines()[-1].startswith("HeadLost: Ray's head has not answered for 12 s: start Ray again")
    with cluster(environment) as (address, _):
        job = begin(environment, address, tmp_path / "job", 1)
        output, errors = job.communicate(timeout=120)
        assert job.returncode == 0, errors
    assert int(output.splitlines()[-1].split()[1]) > 50, "it resumed with the parameters of its last checkpoint"


@thorough
def test_launch_sends_the_folder_of_a_script(tmp_path, environment):
    """Without the job's own directory in it; relative paths of the script are in the copy."""
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "data.txt").write_text("7")
    (folder / "beside.py").write_text("from pathlib import Path\nvalue = Path('data.txt').read_text()\n")
    (folder / "train.py").write_text("import os, beside\nprint(beside.value, beside.__file__, os.path.exists('job'))\n")
    command = [sys.executable, "-c", "import sys; from paddle_mini.cli import main; sys.exit(main())", "launch"]
    with cluster(environment) as (address, of_ray):
        words = ["--engine", "ray", "--address", address, "--directory", "code/job", "code/train.py"]
        done = subprocess.run([*command, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        assert re.search(rf"7 {of_ray}\S*/beside\.py False", done.stdout + done.stderr)


@thorough
def test_another_token_is_refused_with_a_hint(tmp_path, environment):
    with cluster(environment) as (address, _):
        job = begin({**environment, "RAY_AUTH_TOKEN": "wrong"}, address, tmp_path / "job", 1)
        _, errors = job.communicate(timeout=200)
    assert job.returncode == 1 and "is the cluster's token in ~/.ray/auth_token or RAY_AUTH_TOKEN?" in errors


@thorough
def test_a_token_for_a_cluster_without_one_is_refused_with_a_hint(tmp_path, environment):
    with cluster({**environment, "RAY_AUTH_MODE": "disabled"}) as (address, _):
        job = begin(environment, address, tmp_path / "job", 1)
        _, errors = job.communicate(timeout=200)
    assert job.returncode == 1 and "set RAY_AUTH_MODE=disabled if the cluster uses none" in errors
