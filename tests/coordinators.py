# Coordinators for tests, with requests as in a job, and a connection to a service.
import json

from fake_clock import Clock
from paddle_mini.cluster.coordinator.coordinator import Coordinator
from paddle_mini.cluster.coordinator.coordinator_settings import CoordinatorSettings
from paddle_mini.cluster.engine import Link
from paddle_mini.cluster.messages import decode_reply, encode
from raw_messages import request, understood


class Asked:
    """A coordinator in a directory, and a clock that a test moves; restart() creates another one that resumes."""

    def __init__(self, directory, trainers=2, servers=2, **settings):
        self.directory, self.clock = str(directory), Clock()
        self.settings = CoordinatorSettings("job", trainers, servers, **settings)
        self.restart()

    def restart(self):
        self.service = Coordinator(self.settings, self.directory, self.clock)

    def request(self, name, **fields):
        reply, arrays = understood(*self.service.handle(request("job", name, **fields), []))
        assert arrays == []
        return reply

    def typed(self, request):
        """The reply as an object."""
        return decode_reply(request.reply, *self.service.handle(*encode("job", request)))

    def trainer(self, key, number=None):
        """A trainer that has joined, and its requests."""
        reply = self.request("join", key=key, trainer=number)
        return {"trainer": reply["number"], "incarnation": reply["incarnation"]}

    def server(self, key, number=None, token=None):
        reply = self.request("register", key=key, server=number, address=f"at {key}", token=token)
        return [reply["number"], reply["incarnation"]]

    def heartbeat(self, part, number, incarnation, **report):
        return self.request("heartbeat", role=part, number=number, incarnation=incarnation, report=report)


class ToService(Link):
    """The connection to one service."""

    def __init__(self, service):
        self.service = service

    def send(self, requests, timeout):
        return [self.service.handle(request.header, request.arrays) for request in requests]


def state(job):
    """The tables of a coordinator, as JSON has them."""
    tables = json.loads(json.dumps(job.service._durable._journal.snapshot()))
    return {name: sorted(rows) for name, rows in tables.items()}


def used(job):
    """Changes of every kind."""
    a, b = job.trainer("a"), job.trainer("b")
    servers = [job.server("s"), job.server("t")]
    token = job.request("begin_init", **a)["token"]
    job.request("end_init", **a, token=token, servers=servers)
    job.request("set_data", chunks=["x", "y", "z"], chunks_per_task=1)
    ((task, epoch, _),) = job.request("get_tasks", **a, pass_number=0, serial=0)["tasks"]
    job.request("end_tasks", **a, tasks=[[task, epoch]])
    job.request("get_tasks", **b, pass_number=0, serial=4)
    job.request("ask_save", **b, directory="out", seconds=60)
    job.trainer("c", 0)


def resumed(job):
    """The state with which another coordinator resumes, without what each restart changes."""
    job.restart()
    found = state(job)
    for name in ("trainers.counts", "servers.counts", "job.facts"):
        del found[name]
    return found


FORMAT_1 = {
    "tasks": {
        "chunks": ["x", "y", "z"],
        "chunks_per_task": 1,
        "pass": 0,
        "todo": [2],
        "pending": [[1, "1", 1, 1200.0, [1, 4]]],
        "done": [0],
        "failed": [],
        "asked": [["0", 1, 0], ["1", 1, 4]],
        "epochs": [1, 1, 0],
        "failures": [0, 0, 0],
    },
    "leases": {"token": 2, "leases": [["save out", "1", 1, 2, 60.0]]},
    "trainers": {
        "present": [[1, "b", 1, {}, 10.0], [0, "c", 2, {}, 10.0]],
        "incarnations": [[0, 2], [1, 1]],
        "restarts": [[0, 1], [1, 0]],
        "version": 4,
    },
    "servers": {
        "present": [
            [0, "s", 1, {"address": "at s", "initialised": True}, 10.0],
            [1, "t", 1, {"address": "at t", "initialised": True}, 10.0],
        ],
        "incarnations": [[0, 1], [1, 1]],
        "restarts": [[0, 0], [1, 0]],
        "version": 2,
    },
    "started": True,
    "finished": [1],
    "restarts": 0,
    "run": "",
}
"""The state of used() in the previous version's file."""
