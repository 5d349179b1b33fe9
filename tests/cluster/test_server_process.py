"""A server as a process of a job: it keeps its shard until another process replaces it; a lost server rejoins."""

import pytest

from coordinators import Asked
from paddle_mini.cluster import Gone
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.engine import Link
from paddle_mini.cluster.job_settings import JobSettings
from paddle_mini.cluster.protocol import View
from paddle_mini.cluster.servers.server_process import ServerProcess
from paddle_mini.cluster.wire import unpack
from raw_messages import request


class Direct(Link):
    """Links to one coordinator; while they are cut, no message arrives."""

    def __init__(self, service):
        self.service, self.cut = service, False

    def send(self, requests, timeout):
        return [Gone("cut off") if self.cut else self.service.handle(one.header, one.arrays) for one in requests]


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path, 1, 1, lease=4.0)


def part(job, link=None):
    made = ServerProcess(0, JobSettings("job", 1, 1, lease=4.0), None, link or Direct(job.service), job.clock)
    made.tick()
    return made


def serves(served):
    reply = served.handle(request("job", "status"), [])
    assert isinstance(reply, Gone) or unpack(reply[0])["ok"]
    return not isinstance(reply, Gone)


def present(job):
    return [(row["server"], row["incarnation"]) for row in job.request("view")["servers"]]


def test_a_server_beats(job):
    served = part(job)
    for _ in range(8):
        job.clock.pass_by(1)
        served.tick()
    assert present(job) == [(0, 1)] and serves(served)
    assert job.request("status")["servers"]["0"]["report"]["version"] == 0


def test_one_whose_place_another_process_has_taken_serves_no_more(job):
    first, second = part(job), part(job)
    assert present(job) == [(0, 2)] and serves(first)  # until it receives a reply
    for _ in range(4):
        job.clock.pass_by(1)
        first.tick()
        second.tick()
    assert not serves(first) and serves(second)
    assert present(job) == [(0, 2)]


def test_a_late_message_of_an_earlier_life_takes_the_place_for_a_lease(job):
    served = part(job)
    life = served.server.life
    job.server("of an earlier life", 0)
    for second in range(7):
        job.clock.pass_by(1)
        served.tick(), served.tick()
        assert serves(served) == (second >= 3)
    assert present(job) == [(0, 3)] and served.server.life != life


def test_one_that_was_cut_off_comes_back(job):
    link = Direct(job.service)
    served = part(job, link)
    link.cut = True
    for _ in range(8):
        job.clock.pass_by(1)
        served.tick()
    assert present(job) == []
    link.cut = False
    served.tick(), job.clock.pass_by(1), served.tick()
    assert present(job) == [(0, 2)] and serves(served)


def test_it_hears_of_trainers_when_the_job_has_started(job):
    served = part(job)
    trainer = job.trainer("a")
    job.clock.pass_by(1)
    served.tick()
    header, _ = served.handle(request("job", "status"), [])
    assert unpack(header)["members"] == [[0, trainer["incarnation"]]]
    assert Client(Direct(job.service), "job").once("coordinator", View()).started
