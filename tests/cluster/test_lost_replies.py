"""Replies that are lost while servers restart: each push is applied once, and no trainer waits for ever."""

import threading
from functools import partial

import pytest

import paddle_mini as pm
from cluster_jobs import begun
from paddle_mini.cluster import Timeout
from paddle_mini.cluster.thread_engine import ThreadEngine
from raw_messages import fields_of

STEP = 3
LOST = Timeout("the reply was lost")


def train():
    """Each push subtracts 1 from two parameters, one at each server, in sync mode all pushes of a step together; returns one
    element of each."""
    zeros = pm.initializer.Constant(0.0)
    a, b = (pm.layers.create_parameter([3], "float32", name=name, default_initializer=zeros) for name in "ab")
    pm.optimizer.SGD(1.0).minimize(pm.layers.reduce_sum(a + b))
    trainer = begun()
    for _ in range(6):
        trainer.run()
    trainer.pull()
    return [pm.global_scope().get(name)[0] for name in "ab"]


def run(mode, engine):
    patient = {"checkpoint_seconds": 1000.0, "wait_timeout": 8.0, "timeout": 30.0}
    return pm.cluster.run(train, 2, 2, mode, engine, engine.directory, **patient)


class Losing(ThreadEngine):
    """The base of engines that lose replies. directory: of the job."""

    def __init__(self, directory):
        super().__init__()
        self.directory = directory

    def restart_empty(self, name):
        """Kills a service and starts it again, without its checkpoints."""
        self.kill(name)
        for file in self.directory.rglob(name.replace(" ", "-") + "*"):
            file.unlink()
        self.restart(name)


class LosesAStep(Losing):
    """The replies to the pushes of STEP arrive when both servers have restarted from an older checkpoint; and only trainer 0
    gets that of server 0, only trainer 1 that of server 1."""

    def __init__(self, directory, servers=("server 0", "server 1")):
        super().__init__(directory)
        self.servers, self.held, self.restarts = servers, [], None

    def post(self, request, respond, timeout):
        fields = fields_of(request.header)
        if self.restarts is None and is_push(fields) and request.service in self.servers:
            respond = partial(self._hold, int(request.service[-1]) == fields["trainer"], respond)
        super().post(request, respond, timeout)

    def _hold(self, arrives, respond, answer):
        self.held.append((respond, answer if arrives else LOST))
        if len(self.held) == 2 * len(self.servers):
            self.restarts = threading.Thread(target=self._restart)
            self.restarts.start()

    def _restart(self):
        for name in self.servers:
            self.kill(name)
        for name in self.servers:
            self.restart(name)
        for respond, answer in self.held:
            respond(answer)

    def stop(self):
        self.restarts.join()
        super().stop()


class LosesAServer(LosesAStep):
    """Server 0 restarts without a checkpoint before the pushes of STEP arrive there. The replies of server 1 to these arrive
    when it has restarted from an older checkpoint, and only trainer 1 gets one."""

    def __init__(self, directory):
        super().__init__(directory, ["server 1"])
        self.losing, self.lost = threading.Lock(), False

    def post(self, request, respond, timeout):
        if is_push(fields_of(request.header)):
            with self.losing:
                if not self.lost:
                    self.restart_empty("server 0")
                    self.lost = True
        super().post(request, respond, timeout)


def is_push(fields):
    return fields["request"] == "push" and fields["step"] == STEP


@pytest.mark.parametrize("engine, expected", [(LosesAStep, [-3.0, -3.0]), (LosesAServer, [-6.0, -3.0])])
def test_servers_that_lost_a_step_get_it_from_trainers_that_wait_for_each_other(engine, expected, tmp_path):
    """A trainer waits, at a server whose reply it did not get, for the push that another trainer was told is applied. Server
    1 lost steps 0 to 2, as has server 0, unless it got its parameters from a trainer."""
    result = run("sync", engine(tmp_path / "job"))
    assert result.returned == [expected, expected]


class LosesAReply(Losing):
    """The reply of server 1 to trainer 1 for STEP is lost; trainer 0 gets parameters with this push. Before the next one of
    trainer 0 arrives, the server restarts without a checkpoint, and trainer 1 repeats its push when the server has got these
    parameters from trainer 0."""

    def __init__(self, directory):
        super().__init__(directory)
        self.pushed, self.lost, self.respond = threading.Event(), False, None

    def post(self, request, respond, timeout):
        fields = fields_of(request.header)
        name, trainer = fields["request"], fields.get("trainer")
        if request.service != "server 1" or name not in ("push", "finish_init"):
            return super().post(request, respond, timeout)
        if name == "push" and trainer == 1 and fields["step"] == STEP and self.respond is None:
            self.respond = respond
            super().post(request, lambda answer: None, timeout)
            return self.pushed.set()
        if name == "push" and trainer == 0 and fields["step"] == STEP:
            self.pushed.wait(timeout)
        if name == "push" and trainer == 0 and fields["step"] > STEP and not self.lost:
            self.lost = True
            self.restart_empty("server 1")
        super().post(request, respond, timeout)
        if name == "finish_init" and self.lost:
            self.respond(LOST)


@pytest.mark.parametrize("mode, expected, dropped", [("sync", [-6, -6], 1), ("async", [-12, -11], 2)])
def test_a_push_that_a_restarted_server_got_with_its_parameters_is_dropped(mode, expected, dropped, tmp_path):
    """In async mode, in which a server can't know which pushes it got so, all are that were computed before."""
    result = run(mode, LosesAReply(tmp_path / "job"))
    assert [min(one[index] for one in result.returned) for index in (0, 1)] == expected
    assert result.counts["dropped"] == dropped and result.counts["sent"] == result.counts["applied"] + dropped


class LosesADifference(ThreadEngine):
    """All replies to the differences of STEP are lost."""

    def post(self, request, respond, timeout):
        fields = fields_of(request.header)
        if fields["request"] == "push_delta" and fields["step"] == STEP:
            respond = partial(lambda respond, answer: respond(LOST), respond)
        super().post(request, respond, timeout)


@pytest.mark.parametrize("mode", ["delta", "elastic"])
def test_a_difference_whose_reply_is_lost_is_not_added_again(mode):
    """A trainer that handles the error continues with the servers' parameters."""

    def trains():
        w = pm.layers.create_parameter([1], "float64", name="w", default_initializer=pm.initializer.Constant(0.0))
        pm.optimizer.SGD(1.0).minimize(pm.layers.reduce_sum(w))
        trainer, lost = begun(), 0
        for _ in range(6):
            try:
                trainer.run()
            except Timeout:
                lost += 1
        trainer.pull()
        return pm.global_scope().get("w").item(), lost

    trainers = 1 if mode == "delta" else 2
    result = pm.cluster.run(trains, trainers, mode=mode, engine=LosesADifference(), timeout=0.3, alpha=0.5)
    assert {lost for _, lost in result.returned} == {1}
    assert result.counts["applied"] == result.counts["sent"] == 6 * trainers
    if mode == "delta":
        assert result.returned == [(-6.0, 1)]
