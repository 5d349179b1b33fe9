"""Elections by leases with increasing tokens: one initialiser, which all others wait for, and one saver per directory."""

import contextlib
import tempfile

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from coordinators import Asked
from paddle_mini.cluster.errors import AlreadyInitialised, ClusterError, Gone, Malformed, NotInitialised, StaleToken, WrongJob

# Saving


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def ask_save(job, trainer, seconds=60, directory="out"):
    return job.request("ask_save", **trainer, directory=directory, seconds=seconds)


def test_one_saver_a_directory(job):
    a, b = job.trainer("a"), job.trainer("b")
    assert ask_save(job, a) == {"ok": True, "token": 1} == ask_save(job, a)
    assert ask_save(job, b)["token"] is None
    assert ask_save(job, b, directory="./out//")["token"] is None  # the same one
    assert ask_save(job, b, directory="other")["token"] == 2


def test_a_saver_that_dies_is_followed_by_another_after_its_lease(job):
    a, b = job.trainer("a"), job.trainer("b")
    assert ask_save(job, a, seconds=15)["token"] == 1
    for _ in range(3):
        job.clock.pass_by(4.75)
        assert ask_save(job, b)["token"] is None
    job.clock.pass_by(0.75)
    assert ask_save(job, b)["token"] == 2
    with pytest.raises(Gone):
        ask_save(job, a)


def test_the_holder_outlives_a_restart_of_the_coordinator(job):
    a, b = job.trainer("a"), job.trainer("b")
    ask_save(job, a)
    job.restart()
    assert ask_save(job, b)["token"] is None and ask_save(job, a)["token"] == 1
    job.clock.pass_by(9)
    job.restart()
    job.heartbeat("trainer", 1, 1)
    job.clock.pass_by(9)
    assert ask_save(job, b)["token"] is None


def test_an_hour_that_passes_at_once(job):
    a = job.trainer("a")
    ask_save(job, a)
    job.clock.pass_by(3600)
    b = job.trainer("b")
    assert ask_save(job, b)["token"] == 2
    job.clock.now -= 7200  # and a clock that goes back counts as stopped
    assert ask_save(job, job.trainer("c"))["token"] is None


@pytest.mark.parametrize("fields", [{"seconds": 0}, {"seconds": -1}, {"seconds": 1e9}, {"directory": ""}, {"seconds": "1"}])
def test_refused_requests_to_save(job, fields):
    with pytest.raises(Malformed):
        job.request("ask_save", **{**job.trainer("a"), "directory": "out", "seconds": 1, **fields})


# Initialising


def begin(job, trainer):
    return job.request("begin_init", **trainer)


def finish(job, trainer, token, servers=((0, 1), (1, 1))):
    return job.request("end_init", **trainer, token=token, servers=[list(one) for one in servers])


def test_one_initialises_and_the_rest_wait_for_its_end(job):
    a, b, c = (job.trainer(key) for key in "abc")
    assert begin(job, a).get("wait")  # trainers may be there before servers
    job.server("s"), job.server("t")
    chosen = begin(job, b)
    assert chosen["token"] == 1 and [row["server"] for row in chosen["servers"]] == [0, 1]
    assert begin(job, a).get("wait") and begin(job, c).get("wait")
    assert job.request("view")["initialised"] is False
    assert finish(job, b, chosen["token"])["repeated"] is False
    for trainer in (a, b, c, job.trainer("d")):
        assert begin(job, trainer)["token"] is None
    assert finish(job, b, chosen["token"])["repeated"] is True
    job.restart()
    assert job.request("view")["initialised"] is True and begin(job, a)["token"] is None


@pytest.mark.parametrize("end", ["lost", "left", "began again", "slow"])
def test_an_initialiser_that_does_not_finish_is_followed_by_another(job, end):
    a, b = job.trainer("a"), job.trainer("b")
    job.server("s"), job.server("t")
    first = begin(job, a)["token"]
    heartbeats = {"lost": 2, "slow": 12}.get(end, 0)
    for _ in range(heartbeats):
        assert begin(job, b).get("wait")
        job.clock.pass_by(5)
        job.heartbeat("server", 0, 1), job.heartbeat("server", 1, 1)
        if end == "slow":
            job.heartbeat("trainer", 0, 1)
    if end == "left":
        job.request("leave", role="trainer", number=0, incarnation=1)
    if end == "began again":
        job.trainer("x", 0)
    second = begin(job, b)
    assert second["token"] > first
    with pytest.raises(StaleToken if end == "slow" else Gone):
        finish(job, a, first)
    finish(job, b, second["token"])
    if end == "slow":
        with pytest.raises(AlreadyInitialised):
            finish(job, a, first)


def test_the_end_is_for_all_servers_or_none_and_can_be_repeated(job):
    a = job.trainer("a")
    job.server("s"), job.server("t")
    token = begin(job, a)["token"]
    with pytest.raises(NotInitialised, match="server 1 has not finished"):
        finish(job, a, token, [(0, 1)])
    job.server("u", 1)  # replaces t, and has no state
    with pytest.raises(NotInitialised, match="server 1"):
        finish(job, a, token)
    assert job.request("view")["initialised"] is False
    assert [row["server"] for row in begin(job, a)["servers"]] == [0, 1]
    assert finish(job, a, token, [(0, 1), (1, 2)])["repeated"] is False


def test_a_server_that_comes_back_with_its_parameters_needs_none(job):
    a = job.trainer("a")
    job.server("s"), job.server("t")
    token = begin(job, a)["token"]
    job.server("u", 1, token)  # from a checkpoint of an initialisation that was not finished
    assert [row["server"] for row in begin(job, a)["servers"]] == [0, 1]
    finish(job, a, token, [(0, 1), (1, 2)])
    job.server("v", 1, token)
    assert job.request("view")["initialised"] is True and begin(job, a)["token"] is None
    job.server("w", 0)  # the server's checkpoints are lost
    assert job.request("view")["initialised"] is False
    again = begin(job, a)
    assert again["token"] > token and [row["server"] for row in again["servers"]] == [0]
    finish(job, a, again["token"], [(0, 2)])
    job.server("x", 1, token), job.server("y", 0, again["token"])
    assert job.request("view")["initialised"] is True


def test_a_server_of_a_job_that_the_coordinator_does_not_know(job):
    with pytest.raises(WrongJob, match="does not know"):
        job.server("s", 0, 3)


class Electing(RuleBasedStateMachine):
    """Trainers and servers that join, leave, elect and are lost, and a coordinator that is restarted at any moment."""

    @initialize()
    def begin(self):
        self.place = tempfile.TemporaryDirectory()
        self.job = Asked(self.place.name, init_lease=8.0)
        self.lives, self.servers = {}, {}  # by number: incarnation
        self.keys = 0
        self.promised = {}  # by directory: trainer, incarnation, token, end
        self.tokens = []
        self.initialiser = None  # trainer, incarnation, token, end
        self.finished = []

    def key(self):
        self.keys += 1
        return f"key {self.keys}"

    def teardown(self):
        if hasattr(self, "place"):
            self.place.cleanup()

    @rule(number=st.integers(0, 2))
    def trainer_begins(self, number):
        self.lives[number] = self.job.trainer(self.key(), number)["incarnation"]

    @rule(number=st.integers(0, 1), knows=st.booleans())
    def server_begins(self, number, knows):
        token = self.finished[-1] if knows and self.finished else None
        self.servers[number] = self.job.server(self.key(), number, token)[1]

    @rule(number=st.integers(0, 2), directory=st.sampled_from(["here", "there"]), seconds=st.sampled_from([3, 20]))
    def save(self, number, directory, seconds):
        life, now = self.lives.get(number, 1), self.job.clock.now
        try:
            reply = ask_save(self.job, {"trainer": number, "incarnation": life}, seconds, directory)
        except Gone:
            return
        held = self.promised.get(directory)
        if reply["token"] is None:
            return
        if held is not None and held[:2] != (number, life):
            assert reply["token"] > held[2], "a later holder has no higher token"
            assert held[0] == number or now >= held[3], "two trainers are approved at once"
        end = now + seconds
        if held is not None and held[:2] == (number, life):
            assert reply["token"] == held[2]
            end = max(end, held[3])
        elif reply["token"] in self.tokens:
            raise AssertionError("a token was given twice")
        self.tokens.append(reply["token"])
        self.promised[directory] = (number, life, reply["token"], end)

    @rule(number=st.integers(0, 2))
    def ask_to_initialise(self, number):
        life, now = self.lives.get(number, 1), self.job.clock.now
        try:
            reply = begin(self.job, {"trainer": number, "incarnation": life})
        except Gone:
            return
        if reply.get("selected"):
            assert reply["token"] not in self.finished, "what it gives would be taken for given"
            held = self.initialiser
            if held is not None and held[:2] != (number, life):
                assert (
                    now >= held[3] or self.job.service._trainers.present.get(held[0]) is None or self.lives[held[0]] != held[1]
                ), "two initialise at once"
                assert reply["token"] > held[2]
            self.initialiser = (number, life, reply["token"], now + 8)

    @rule(all_of_them=st.booleans())
    def end_of_initialising(self, all_of_them):
        if self.initialiser is None:
            return
        number, life, token, _ = self.initialiser
        servers = list(self.servers.items())[: None if all_of_them else 1]
        try:
            finish(self.job, {"trainer": number, "incarnation": life}, token, servers)
        except ClusterError:
            assert (
                token not in self.finished or self.job.service._trainers.present.get(number) is None or self.lives[number] != life
            ), "an end that was accepted is refused when it is said again"
            return
        if token not in self.finished:
            self.finished.append(token)
            assert self.job.request("view")["initialised"] is True

    @rule(seconds=st.sampled_from([1, 5, 12]), note_reply=st.booleans())
    def pass_by(self, seconds, note_reply):
        self.job.clock.pass_by(seconds)
        for part, lives in (("trainer", self.lives), ("server", self.servers)) if note_reply else ():
            for number, life in lives.items():
                with contextlib.suppress(Gone):
                    self.job.heartbeat(part, number, life)

    @rule()
    def restart(self):
        self.job.restart()

    @invariant()
    def waits_end(self):
        """All servers are present and all trainers send heartbeats: one can initialise, at the latest when a lease has
        ended."""
        if not hasattr(self, "job"):
            return
        view = self.job.request("view")
        assert [row["server"] for row in view["servers"]] == sorted({row["server"] for row in view["servers"]})
        assert view["initialised"] == (len(view["servers"]) == 2 and all(row["initialised"] for row in view["servers"]))


TestElecting = Electing.TestCase
TestElecting.settings = settings(max_examples=40, stateful_step_count=30)
