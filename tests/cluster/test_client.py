"""A client: asks until it is answered, waits where it is told to, and says where an error is from."""

import logging

import numpy as np
import pytest

from fake_clock import Clock
from paddle_mini.cluster.client import Ask, Client, required
from paddle_mini.cluster.engine import Killed, Link
from paddle_mini.cluster.errors import Gone, Malformed, StorageError, Timeout, UnknownParameter
from paddle_mini.cluster.wire import answer, unpack


class Scripted(Link):
    """Answers requests with what `says` has for a service, in order; the last one again and again."""

    def __init__(self, **says):
        self.says, self.sent = {name.replace("_", " "): list(given) for name, given in says.items()}, []

    def send(self, requests, timeout):
        return [self._answer(request) for request in requests]

    def _answer(self, request):
        self.sent.append((request.service, unpack(request.header)))
        script = self.says[request.service]
        said = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(said, (Gone, Timeout)):
            return said
        if isinstance(said, BaseException) and not isinstance(said, Exception):
            raise said

        def reply(name, header, arrays):
            if isinstance(said, Exception):
                raise said
            return said, arrays

        return answer("job", reply, request.header, request.arrays)


class Refusing(Exception):
    pass


def made(link, **settings):
    clock = Clock()
    return Client(link, "job", clock=clock, sleep=clock.pass_by, **settings), clock


AWAY, SLOW, WAIT = Gone("it is not there"), Timeout("no reply"), {"wait": True}


def test_a_request_is_sent_until_there_is_a_reply():
    link = Scripted(server_0=[AWAY, SLOW, AWAY, {"x": 1}])
    client, clock = made(link)
    reply, arrays = client.ask("server 0", "pull", [np.arange(3)], step=7)
    assert reply["x"] == 1 and arrays[0].tolist() == [0, 1, 2]
    assert [header for _, header in link.sent] == [{"protocol": 1, "job": "job", "request": "pull", "step": 7}] * 4
    assert clock.now == pytest.approx(1000 + 0.01 + 0.02 + 0.04)


def test_waiting_has_pauses_and_an_end_of_its_own():
    client, clock = made(Scripted(server_0=[WAIT] * 8 + [AWAY, WAIT, {}]), timeout=0.005, wait_timeout=1)
    with pytest.raises(Timeout, match="server 0: no answer"):
        made(Scripted(server_0=[WAIT, AWAY]), timeout=0.5)[0].ask("server 0", "pull")
    with pytest.raises(Timeout, match="server 0: what it was asked for is not there after 1 s"):
        made(Scripted(server_0=[WAIT]), wait_timeout=1)[0].ask("server 0", "pull")
    assert client.ask("server 0", "pull")[0]["ok"]
    assert clock.now - 1000 == pytest.approx(0.001 + 0.002 + 0.004 + 0.008 + 0.016 + 3 * 0.02 + 0.01 + 0.001)


def test_only_those_that_did_not_answer_are_asked_again():
    link = Scripted(server_0=[{"x": 0}], server_1=[AWAY, WAIT, {"x": 1}], server_2=[UnknownParameter("no 'w'")])
    client, _ = made(link)
    waits = []
    results = client.ask_all(
        [Ask(f"server {index}", "pull") for index in range(3)], lambda index, header: waits.append((index, header["wait"]))
    )
    assert [name for name, _ in link.sent] == ["server 0", "server 1", "server 2", "server 1", "server 1"]
    assert (results[0][0]["x"], results[1][0]["x"]) == (0, 1) and waits == [(1, True)]
    with pytest.raises(UnknownParameter, match="server 2: no 'w'"):
        required(results)


def test_one_line_an_interval_says_who_is_away(caplog):
    client, clock = made(Scripted(server_1=[AWAY]), timeout=20)
    with caplog.at_level(logging.WARNING), pytest.raises(Timeout, match="server 1: no answer in 20 s: it is not there"):
        client.ask("server 1", "push")
    assert 3 <= len(caplog.messages) <= 5 and all("server 1 does not do" in line for line in caplog.messages)
    assert clock.now - 1000 == pytest.approx(20, abs=0.6)


def test_a_coordinator_whose_disk_is_full_is_asked_again():
    """It has done nothing. A server's refusal of a checkpoint is its answer."""
    full = StorageError("no space")
    link = Scripted(coordinator=[full, full, {"x": 1}, full], server_0=[full, {}])
    client, clock = made(link, timeout=5)
    assert client.ask("coordinator", "join")[0]["x"] == 1 and clock.now == pytest.approx(1000 + 0.01 + 0.02)
    with pytest.raises(StorageError, match="coordinator: no space"):
        client.ask("coordinator", "join")
    assert clock.now - 1000 == pytest.approx(5, abs=0.6)
    with pytest.raises(StorageError, match="server 0: no space"):
        client.ask("server 0", "checkpoint")
    assert [name for name, _ in link.sent].count("server 0") == 1


def test_one_message_is_all_that_once_sends():
    link = Scripted(coordinator=[AWAY, {"x": 1}, Malformed("no")])
    client, _ = made(link)
    with pytest.raises(Timeout, match="coordinator: it is not there"):
        client.once("coordinator", "beat")
    assert client.once("coordinator", "beat")["x"] == 1
    with pytest.raises(Malformed, match="coordinator: no"):
        client.once("coordinator", "beat")
    assert len(link.sent) == 3


def test_nothing_keeps_a_killed_trainer():
    client, _ = made(Scripted(server_0=[Killed()]))
    with pytest.raises(Killed):
        client.ask("server 0", "pull")


def test_a_failure_inside_a_service_is_told_too(caplog):
    client, _ = made(Scripted(server_0=[Refusing("a bug")]))
    with pytest.raises(Exception, match="server 0: Refusing: a bug"):
        client.ask("server 0", "pull")
