"""A server and a trainer on two "machines": network namespaces with a cable between them, which loses packets, is slow, or is
cut. Each push counts once, and the trainer continues."""

import json
import time

import pytest

from network_machines import SERVER, filtered, machines, ran, tc
from thorough import thorough

pytest.importorskip("zmq")

from paddle_mini.cluster.service_socket import Keys

__all__ = ["machines"]
PUSHES, GOES_ON = 120, 10.0


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
