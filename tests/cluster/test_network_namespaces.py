"""A server and a trainer on two "machines": network namespaces with a cable between them, which loses packets, is slow, or is
cut. Each push counts once, and the trainer continues."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from thorough import thorough

pytest.importorskip("zmq")

from paddle_mini.cluster.service_socket import Keys

PUSHES, GOES_ON = 120, 10.0
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
        child = str(Path(__file__).parents[1] / "network_child.py")
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


def for_a_while(act, undo):
    act()
    time.sleep(2.5)
    undo()


def netem(machines):
    """20 ms each way, and 3 % of the packets lost."""
    tc(machines, "netem", "delay", "20ms", "loss", "3%")


def loss(machines):
    """5 % of the packets are lost each way."""
    for where in (machines.server, machines.trainer):
        filtered(machines, where, "numgen", "random", "mod", "100", "lt", "5")


def slow(machines):
    """8 Mbit/s."""
    tc(machines, "tbf", "rate", "8mbit", "burst", "16kb", "latency", "100ms")


def cut(machines):
    """No packet arrives, and no process is told."""

    def both(state):
        ran("ip", "-n", machines.server, "link", "set", "cable", state)

    for_a_while(lambda: both("down"), lambda: both("up"))


def one_way(machines):
    """Pushes arrive, their replies do not: they are sent again."""
    for_a_while(
        lambda: filtered(machines, machines.trainer, "ip", "saddr", SERVER),
        lambda: machines.on(machines.trainer, "nft", "delete", "table", "ip", "t"),
    )


@pytest.mark.parametrize("fault", [*(pytest.param(one, marks=thorough) for one in (netem, loss, slow, cut)), one_way])
def test_a_network_with_a_fault(machines, fault):
    keys = json.dumps([key.decode("latin-1") for key in Keys.new()])
    server = machines.begin(machines.server, "server", SERVER, keys)
    trainer = None
    try:
        address = server.stdout.readline()
        trainer = machines.begin(machines.trainer, "trainer", address, keys, str(PUSHES))
        while int(trainer.stdout.readline()) < 20:
            continue
        fault(machines)
        *_, last = trainer.communicate(timeout=60)[0].splitlines()
        assert trainer.returncode == 0
    finally:
        for one in (trainer, server):
            if one is not None:
                one.kill()
                one.communicate()
    found = json.loads(last)
    pushes = found["pushes"]
    assert found["values"] == [-PUSHES], "each push was applied once"
    assert (pushes["sent"], pushes["applied"], pushes["dropped"]) == (PUSHES, PUSHES, 0)
    assert found["longest"] < 2.5 + GOES_ON
    if fault is one_way:
        assert pushes["repeated"] >= 1
