# Coordinators for tests, with requests as in a job, and a connection to a service.
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
