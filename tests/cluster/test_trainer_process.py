"""A trainer that waits for its push to be applied: servers that may have lost it get it again."""

import pytest

from coordinators import Asked
from paddle_mini.cluster.engine import Link
from paddle_mini.cluster.job_settings import JobSettings
from paddle_mini.cluster.messages import Wait
from paddle_mini.cluster.trainers.trainer_process import TrainerProcess

SERVERS = 3


class ToCoordinator(Link):
    """Servers are unreachable."""

    def __init__(self, service):
        self._service = service

    def send(self, requests, timeout):
        return [self._service.handle(one.header, one.arrays) for one in requests if one.service == "coordinator"]


@pytest.fixture
def job(tmp_path):
    """A coordinator of a job whose servers have their parameters."""
    asked = Asked(tmp_path, 1, SERVERS, lease=4.0)
    first, servers = asked.trainer("first", 7), [asked.server(f"s{number}") for number in range(SERVERS)]
    asked.request("end_init", **first, token=asked.request("begin_init", **first)["token"], servers=servers)
    return asked


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("died", [False, True])
def test_who_gets_a_push_again(job, monkeypatch, lost, known, died):
    """lost: the job continues without this trainer, which knows it, or finds out during a request; died: a server was
    restarted."""
    part = TrainerProcess(0, ToCoordinator(job.service), JobSettings("job", 1, SERVERS, lease=1e6), [], dict)
    part.membership.join()
    asked = []

    def pull(names, rows, min_version, average, on_wait):
        for _ in range(2):
            for index in range(SERVERS):
                on_wait(index, Wait(life="another" if died and index == 1 else "", version=0))

    monkeypatch.setattr(part.parameters, "pull", pull)
    if lost:
        job.request("leave", role="trainer", number=0, incarnation=1)
        part.membership.is_lost = known
    part.pull([], {}, 1, again=lambda servers: asked.append(list(servers)))
    all_of_them, one = [[*range(SERVERS)]], [[1]] if died else []
    if lost and known:
        assert asked == all_of_them + one
    elif lost and died:  # it finds out when it checks whether that server needs parameters
        assert asked == all_of_them
    else:
        assert asked == one
    part.membership.stop_heartbeat()
