# Two "machines" on this one: network namespaces with a cable between them, which tests slow down and cut.
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SERVER, TRAINER = "10.77.0.1", "10.77.0.2"


def ran(*words, must=True):
    done = subprocess.run(words, capture_output=True, text=True)
    assert not must or done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done


class Machines:
    """Two namespaces, with an Ethernet cable between them."""

    def __init__(self):
        self.server, self.trainer = (f"pm{os.getpid()}{name}" for name in "ab")
        for name in (self.server, self.trainer):
            ran("ip", "netns", "add", name)
        ran("ip", "link", "add", "cable", "netns", self.server, "type", "veth", "peer", "name", "cable", "netns", self.trainer)
        for name, address in ((self.server, SERVER), (self.trainer, TRAINER)):
            ran("ip", "-n", name, "addr", "add", f"{address}/30", "dev", "cable")
            for device in ("lo", "cable"):
                ran("ip", "-n", name, "link", "set", device, "up")

    def begin(self, where, *words):
        command = [sys.executable, *(["-S"] if sys.flags.no_site else [])]
        child = str(Path(__file__).parent / "network_child.py")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.Popen(
            ["ip", "netns", "exec", where, *command, child, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def on(self, where, *words, must=True):
        return ran("ip", "netns", "exec", where, *words, must=must)

    def end(self):
        for name in (self.server, self.trainer):
            ran("ip", "netns", "del", name, must=False)


@pytest.fixture
def machines():
    """Two Machines; skips the test where namespaces are not allowed."""
    if shutil.which("ip") is None:
        pytest.skip("there is no `ip`: apt-get install iproute2")
    probe = f"pm{os.getpid()}p"
    done = ran("ip", "netns", "add", probe, must=False)
    if done.returncode:
        pytest.skip(f"network namespaces are not allowed: {done.stderr.strip()}")
    ran("ip", "netns", "del", probe)
    made = Machines()
    yield made
    made.end()


def tc(machines, *words):
    for where in (machines.server, machines.trainer):
        done = machines.on(where, "tc", "qdisc", "replace", "dev", "cable", "root", *words, must=False)
        if done.returncode:
            pytest.skip(f"`tc qdisc … {words[0]}`: {done.stderr.strip()}")


def filtered(machines, where, *rule):
    if shutil.which("nft") is None:
        pytest.skip("there is no `nft`: apt-get install nftables")
    machines.on(where, "nft", "add", "table", "ip", "t")
    machines.on(where, "nft", "add", "chain", "ip", "t", "c", "{ type filter hook input priority 0; }")
    machines.on(where, "nft", "add", "rule", "ip", "t", "c", *rule, "drop")
