"""A client: repeats requests until it gets a reply, waits if the reply requires it, and names the origin of an error."""

import logging

import numpy as np
import pytest

from fake_clock import Clock
from paddle_mini.cluster.client import Call, Client, required
from paddle_mini.cluster.engine import Killed, Link
from paddle_mini.cluster.errors import ClusterError, Gone, Malformed, StorageError, Timeout, UnknownParameter
from paddle_mini.cluster.messages import PROTOCOL, Wait, encode_error, encode_reply
from paddle_mini.cluster.protocol import Checkpoint, Heartbeat, Join, Pull
from paddle_mini.cluster.replies import Checkpointed, HeartbeatReply, Pulled, Welcome
from paddle_mini.cluster.values import Role
from raw_messages import fields_of


class Scripted(Link):
    """Replies to requests with the items of `says` for a service, in order; repeats the last one."""

    def __init__(self, **says):
        self.says, self.sent = {name.replace("_", " "): list(given) for name, given in says.items()}, []

    def send(self, requests, timeout):
        return [self._answer(request) for request in requests]

    def _answer(self, request):
        self.sent.append((request.service, fields_of(request.header)))
        script = self.says[request.service]
        said = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(said, (Gone, Timeout)):
            return said
        if isinstance(said, Killed):
            raise said
        if isinstance(said, ClusterError):
            return encode_error(said.kind, str(said))
        return encode_reply(said)


def made(link, **settings):
    clock = Clock()
    return Client(link, "job", clock=clock, sleep=clock.pass_by, **settings), clock


AWAY, SLOW, WAIT = Gone("it does not run"), Timeout("no reply"), Wait()


HEARTBEAT = Heartbeat(Role.TRAINER, 0, 1)


def pulled(*values):
    return Pulled([np.array(values)], version=len(values))


def test_a_request_is_sent_until_there_is_a_reply():
    link = Scripted(server_0=[AWAY, SLOW, AWAY, pulled(0, 1, 2)])
    client, clock = made(link)
    reply = client.request("server 0", Pull(min_version=7))
    assert reply.version == 3 and reply.arrays[0].tolist() == [0, 1, 2]
    header = {
        "protocol": PROTOCOL,
        "job": "job",
        "request": "pull",
        "blocks": [],
        "rows": [],
        "min_version": 7,
        "average": None,
        "parts": [],
    }
    assert [sent for _, sent in link.sent] == [header] * 4
    assert clock.now == pytest.approx(1000 + 0.01 + 0.02 + 0.04)


def test_waiting_has_pauses_and_an_end_of_its_own():
    client, clock = made(Scripted(server_0=[WAIT] * 8 + [AWAY, WAIT, pulled()]), timeout=0.005, wait_timeout=1)
    with pytest.raises(Timeout, match="server 0: no answer"):
        made(Scripted(server_0=[WAIT, AWAY]), timeout=0.5)[0].request("server 0", Pull())
    with pytest.raises(Timeout, match="server 0: it still replies 'wait' after 1 s"):
        made(Scripted(server_0=[WAIT]), wait_timeout=1)[0].request("server 0", Pull())
    assert client.request("server 0", Pull()).arrays
    assert clock.now - 1000 == pytest.approx(0.001 + 0.002 + 0.004 + 0.008 + 0.016 + 3 * 0.02 + 0.01 + 0.001)


def test_only_those_that_did_not_answer_are_asked_again():
    link = Scripted(server_0=[pulled(0)], server_1=[AWAY, Wait(version=5), pulled(0, 1)], server_2=[UnknownParameter("no 'w'")])
    client, _ = made(link)
    waits = []
    results = client.request_all(
        [Call(f"server {index}", Pull()) for index in range(3)], lambda index, reply: waits.append((index, reply.version))
    )
    assert [name for name, _ in link.sent] == ["server 0", "server 1", "server 2", "server 1", "server 1"]
    assert (results[0].version, results[1].version) == (1, 2) and waits == [(1, 5)]
    with pytest.raises(UnknownParameter, match="server 2: no 'w'"):
        required(results)


def test_those_that_answered_are_asked_again_where_others_depend_on_it():
    """Once for each "wait"; an error is not asked for again. The last reply counts."""
    link = Scripted(
        server_0=[pulled(0), AWAY, pulled(0, 1), pulled(0, 1, 2)],
        server_1=[WAIT, AWAY, WAIT, pulled(0, 1)],
        server_2=[UnknownParameter("no 'w'")],
    )
    client, _ = made(link)
    results = client.request_all([Call(f"server {index}", Pull()) for index in range(3)], asks_again=True)
    names = [name for name, _ in link.sent]
    assert [names.count(f"server {index}") for index in range(3)] == [4, 4, 1]
    assert (results[0].version, results[1].version) == (3, 2) and isinstance(results[2], UnknownParameter)


def test_one_line_an_interval_says_who_is_away(caplog):
    client, clock = made(Scripted(server_1=[AWAY]), timeout=20)
    with caplog.at_level(logging.WARNING), pytest.raises(Timeout, match="server 1: no answer in 20 s: it does not run"):
        client.request("server 1", Pull())
    assert 3 <= len(caplog.messages) <= 5 and all("server 1 has failed for" in line for line in caplog.messages)
    assert clock.now - 1000 == pytest.approx(20, abs=0.6)


def test_a_coordinator_whose_disk_is_full_is_asked_again():
    """It has changed nothing. A server's rejection of a checkpoint is its reply."""
    full, welcome = StorageError("no space"), Welcome(0, 1, 1, 10.0, {}, True, 0)
    link = Scripted(coordinator=[full, full, welcome, full], server_0=[full, Checkpointed({})])
    client, clock = made(link, timeout=5)
    assert client.request("coordinator", Join("a")) == welcome and clock.now == pytest.approx(1000 + 0.01 + 0.02)
    with pytest.raises(StorageError, match="coordinator: no space"):
        client.request("coordinator", Join("a"))
    assert clock.now - 1000 == pytest.approx(5, abs=0.6)
    with pytest.raises(StorageError, match="server 0: no space"):
        client.request("server 0", Checkpoint())
    assert [name for name, _ in link.sent].count("server 0") == 1


def test_one_message_is_all_that_once_sends():
    link = Scripted(coordinator=[AWAY, HeartbeatReply(3, True), Malformed("no")])
    client, _ = made(link)
    with pytest.raises(Timeout, match="coordinator: it does not run"):
        client.once("coordinator", HEARTBEAT)
    assert client.once("coordinator", HEARTBEAT).membership == 3
    with pytest.raises(Malformed, match="coordinator: no"):
        client.once("coordinator", HEARTBEAT)
    assert len(link.sent) == 3


def test_nothing_keeps_a_killed_trainer():
    client, _ = made(Scripted(server_0=[Killed()]))
    with pytest.raises(Killed):
        client.request("server 0", Pull())


def test_a_reply_of_another_kind_is_refused():
    client, _ = made(Scripted(server_0=[HeartbeatReply(3, True)]))
    with pytest.raises(Malformed, match="server 0: Pulled has no field 'membership'"):
        client.request("server 0", Pull())
