"""The script for Slurm in docs/cluster.md, run by Slurm on two "machines": network namespaces with a cable between them."""

import os
import re
import secrets
import shutil
import subprocess
import sys
import textwrap
import time
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from network_machines import SERVER, TRAINER, machines, ran
from thorough import thorough

pytest.importorskip("ray")
__all__ = ["machines"]
DOCS = Path(__file__).parents[2] / "docs/cluster.md"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
NAMES = {SERVER: "m1", TRAINER: "m2"}
CONFIGURATION = """
    ClusterName=two
    KillWait=3
    SlurmctldHost=m1({server})
    AuthType=auth/munge
    AuthInfo=socket={folder}/munge
    ProctrackType=proctrack/linuxproc
    TaskPlugin=task/none
    SelectType=select/cons_tres
    SlurmUser=root
    SlurmdUser=root
    StateSaveLocation={folder}/state
    SlurmdSpoolDir={folder}/spool.%n
    SlurmdPidFile={folder}/%n.pid
    SlurmctldPidFile={folder}/controller.pid
    SlurmctldLogFile={folder}/controller.log
    SlurmdLogFile={folder}/%n.log
    NodeName=m1 NodeAddr={server} CPUs=2
    NodeName=m2 NodeAddr={trainer} CPUs=2
    PartitionName=all Nodes=m1,m2 Default=YES State=UP
"""
TRAIN = """
    import os
    import numpy as np
    import paddle_mini as pm

    x = pm.layers.data("x", shape=[-1, 8])
    loss = pm.layers.mean(pm.layers.fc(x, 1))
    pm.optimizer.SGD(0.05).minimize(loss)
    pm.Executor().run(pm.default_startup_program())
    trainer = pm.cluster.join()
    for chunk in trainer.batches(range(20), passes=3):
        trainer.run({"x": np.full((4, 8), chunk, "float32")}, [loss])
    with open(f"{os.environ['SLURM_SUBMIT_DIR']}/ended.{trainer.number}", "w") as file:  # the script runs in a copy of its folder
        file.write(os.environ["SLURMD_NODENAME"])
"""


class Slurm:
    """A controller and a node on the first machine, another node on the second one."""

    def __init__(self, machines, folder):
        self.machines, self.folder, self.begun = machines, folder, []
        self.environment = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf"}
        (folder / "state").mkdir()
        (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{ip} {name}\n" for ip, name in NAMES.items()))
        text = CONFIGURATION.format(folder=folder, server=SERVER, trainer=TRAINER)
        (folder / "slurm.conf").write_text(textwrap.dedent(text))
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)

    def begin(self):
        files = [f"--{kind}-file={self.folder}/munge.{kind}" for kind in ("key", "pid", "log", "seed")]
        self._begin(SERVER, "munged", "--foreground", "--force", f"--socket={self.folder}/munge", *files)
        self._begin(SERVER, "slurmctld", "-D")
        for ip in NAMES:
            self._begin(ip, "slurmd", "-D")

    def command(self, ip, *words):
        """A command on one machine, with its name and the addresses of both."""
        where = {SERVER: self.machines.server, TRAINER: self.machines.trainer}[ip]
        named = f'hostname {NAMES[ip]} && mount --bind {self.folder}/hosts /etc/hosts && exec "$@"'
        # Not by `ip netns exec`, which hides the control groups that a node needs.
        return ["nsenter", f"--net=/run/netns/{where}", "unshare", "--mount", "--uts", "sh", "-c", named, "sh", *words]

    def _begin(self, ip, *words):
        with open(self.folder / "output", "a") as output:
            self.begun.append(subprocess.Popen(self.command(ip, *words), env=self.environment, stdout=output, stderr=output))

    def asked(self, *words, **options):
        return subprocess.run(self.command(SERVER, *words), env=self.environment, capture_output=True, text=True, **options)

    def wait(self, pattern, seconds, *words):
        """Waits until the output of a command has the pattern."""
        end = time.monotonic() + seconds
        while True:
            said = self.asked(*words)
            if re.search(pattern, said.stdout):
                return
            if time.monotonic() > end or any(one.poll() is not None for one in self.begun):
                pytest.fail(f"{said.stdout}{said.stderr}\n{(self.folder / 'output').read_text()}")
            time.sleep(0.3)

    def end(self):
        self.asked("scancel", "--full", "--user=root")
        with suppress(pytest.fail.Exception):
            self.wait("^$", 20, "squeue", "--noheader")
        for one in reversed(self.begun):
            one.terminate()
            with suppress(subprocess.TimeoutExpired):
                one.wait(20)
            one.kill()


@pytest.fixture
def slurm(machines):
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {missing[0]}: apt-get install slurmctld slurmd slurm-client munge")
    if not os.path.ismount("/sys/fs/cgroup"):
        pytest.skip("slurmd needs control groups in /sys/fs/cgroup")
    probe = ran("unshare", "--mount", "--uts", "true", must=False)
    if probe.returncode:
        pytest.skip(f"namespaces of names and mounts are not allowed: {probe.stderr.strip()}")
    folder = Path(f"/tmp/pm_{uuid.uuid4().hex[:8]}")  # names of sockets in it must be short
    folder.mkdir(mode=0o755)
    made = Slurm(machines, folder)
    try:
        made.begin()
        made.wait("^2 idle", 60, "sinfo", "--noheader", "--format=%D %t")
        yield made
    finally:
        made.end()
        ran("rm", "-rf", str(folder))


@thorough
def test_the_script_trains_on_two_machines(slurm, tmp_path):
    """As in the document, but for the number of machines."""
    (script,) = re.findall(r"```sh\n(#!/bin/bash\n#SBATCH.*?)```", DOCS.read_text(), re.DOTALL)
    (tmp_path / "job.sh").write_text(script)
    (tmp_path / "train.py").write_text(textwrap.dedent(TRAIN))
    slurm.environment |= {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "RAY_TMPDIR": str(slurm.folder),
    }
    slurm.environment.pop("RAY_ADDRESS", None)
    slurm.asked("sbatch", "--nodes=2", "--output=output", "job.sh", cwd=tmp_path, check=True)
    slurm.wait("JobState=(COMPLETED|FAILED|NODE_FAIL)", 240, "scontrol", "show", "job", "1")
    output = (tmp_path / "output").read_text()
    assert {(tmp_path / f"ended.{number}").read_text() for number in range(2)} == set(NAMES.values()), output
    assert "60 steps" in output
