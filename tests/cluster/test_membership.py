"""Messages about changes of the members: a trainer tells servers about itself, not about all, and not before the job starts."""

from collections import Counter
from dataclasses import replace

import pytest

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier
from coordinators import Asked, ToService
from paddle_mini.cluster.coordinator import membership_changes
from paddle_mini.cluster.job_settings import JobSettings
from paddle_mini.cluster.protocol import SetMembers
from paddle_mini.cluster.servers.server_process import ServerProcess
from paddle_mini.cluster.thread_engine import ThreadEngine
from paddle_mini.cluster.values import MemberId
from raw_messages import fields_of
from server_calls import Group
from server_pushes import ONE


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path, trainers=3, servers=1)


class Counting(ThreadEngine):
    """Keeps the requests `members` to servers, and counts those to the coordinator."""

    def __init__(self):
        super().__init__()
        self.members, self.requests = [], Counter()

    def post(self, request, respond, timeout):
        header = fields_of(request.header)
        if request.service == "coordinator":
            self.requests[header["request"]] += 1
        elif header["request"] == "members":
            self.members.append(header)
        super().post(request, respond, timeout)


def trains(steps):
    _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
    trainer = begun()
    for step in range(steps):
        trainer.run(batch(8 * step, 8 * step + 8), [loss])


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_the_list_of_all_trainers_is_sent_once(mode):
    """By the trainer with which the job starts; in sync mode the others wait for one that leaves."""
    engine = Counting()
    pm.cluster.run(trains, 8, 2, mode, engine, args=(3,))
    lists = [one for one in engine.members if one["since"] is None]
    assert [len(one["trainers"]) for one in lists] == [8, 8], "one for each server"
    changes = [one for one in engine.members if one["since"] is not None]
    assert len(changes) == (2 * 8 if mode == "sync" else 0)
    assert all(len(one["trainers"]) + len(one["gone"]) == 1 for one in changes)


def test_a_view_of_what_has_changed(job):
    a, _ = job.trainer("a"), job.trainer("b")
    first = job.request("view")
    assert first["since"] is None and first["trainers"] == [[0, 1], [1, 1]]
    job.trainer("c")
    job.trainer("d", a["trainer"])
    job.request("leave", role="trainer", number=1, incarnation=1)
    view = job.request("view", since=first["membership"])
    assert (view["since"], view["trainers"], view["gone"]) == (first["membership"], [[0, 2], [2, 1]], [1])
    assert job.request("view", since=view["membership"])["trainers"] == []
    job.restart()
    after = job.request("view", since=view["membership"])
    assert after["since"] is None and after["trainers"] == [[0, 2], [2, 1]], "it does not know any more what was before"


def test_changes_of_long_ago_are_forgotten(job, monkeypatch):
    monkeypatch.setattr(membership_changes, "KEPT", 3)
    job.restart()
    memberships = []
    for key in "abcdef":
        job.trainer(key)
        memberships.append(job.request("view")["membership"])
    views = [job.request("view", since=membership) for membership in memberships]
    assert [view["since"] is None for view in views] == [True, True, False, False, False, False]
    assert [len(view["trainers"]) for view in views] == [6, 6, 3, 2, 1, 0]


def test_welcome_says_whether_the_job_has_started(job):
    joins = [job.request("join", key=key, trainer=number) for number, key in enumerate("abc")]
    assert [(one["started"], one["since"]) for one in joins] == [(False, None), (False, None), (True, None)]
    again = job.request("join", key="d", trainer=1)
    assert again["started"] and again["since"] == joins[2]["membership"] and again["membership"] > again["since"]
    left = job.request("leave", role="trainer", number=1, incarnation=2)
    assert (left["since"], left["membership"] > left["since"]) == (again["membership"], True)
    assert job.request("leave", role="trainer", number=1, incarnation=2)["since"] is None


def test_a_trainer_that_left_before_the_others_joined_has_joined(tmp_path):
    """It waits for a task of another trainer, which waits for the start: also across restarts of the coordinator, and not
    in the next run."""
    job = Asked(tmp_path, trainers=3)
    for number in (0, 1):
        assert not job.request("join", key=str(number), trainer=number)["started"]
    for _ in range(2):
        assert not job.request("leave", role="trainer", number=1, incarnation=1)["started"]
    assert not job.request("join", key="again", trainer=0)["started"]
    job.restart()
    assert job.request("join", key="2", trainer=2)["started"]
    job.settings = replace(job.settings, run="next")
    job.restart()
    assert not job.request("join", key="later", trainer=2)["started"]


def members_of(server):
    return dict(server.status().members)


def test_a_server_applies_a_change_of_what_it_knows():
    server = Group(1, ONE, 2).servers[0]
    server.set_members(SetMembers(5, [MemberId(0, 1), MemberId(1, 1)]))
    assert server.set_members(SetMembers(7, [MemberId(1, 2)], 5)).repeated is False
    assert server.set_members(SetMembers(8, [], 7, [0])).repeated is False
    assert members_of(server) == {1: 2} and server.missed == 0
    assert server.set_members(SetMembers(10, [MemberId(4, 1)], 9)).repeated is True
    assert members_of(server) == {1: 2} and server.missed == 10
    assert server.set_members(SetMembers(7, [MemberId(3, 1)], 5)).repeated is True, "late"


def test_a_server_that_missed_a_change_asks_at_its_next_tick(job, tmp_path):
    settings = JobSettings("job", 3, 1)
    part = ServerProcess(0, settings, str(tmp_path), ToService(job.service), job.clock)
    part.tick()
    for key in "abc":
        job.trainer(key)
    job.clock.pass_by(settings.heartbeat_seconds)
    part.tick()
    assert members_of(part.server) == {0: 1, 1: 1, 2: 1}
    again = job.request("join", key="d", trainer=0)
    left = job.request("leave", role="trainer", number=2, incarnation=1)
    part.server.set_members(SetMembers(left["membership"], [], left["since"], [2]))
    assert members_of(part.server) == {0: 1, 1: 1, 2: 1}, "the change before is not known here yet"
    part.tick()
    assert members_of(part.server) == {0: 2, 1: 1} and part.server.membership == left["membership"] > again["membership"]
    part.rest()
