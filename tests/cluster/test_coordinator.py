"""The coordinator: membership, and the state that survives a restart."""

import json
from dataclasses import replace

import pytest

from coordinators import Asked
from paddle_mini.cluster.coordinator import coordinator_file
from paddle_mini.cluster.coordinator.coordinator import Coordinator
from paddle_mini.cluster.coordinator.coordinator_settings import CoordinatorSettings
from paddle_mini.cluster.errors import AlreadyInitialised, Gone, Malformed, NotElected, StorageError, WrongJob, WrongVersion


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def trainers(job):
    return [tuple(one) for one in job.request("view")["trainers"]]


# Members


def test_trainers_get_the_lowest_free_number(job):
    first, second, third = (job.trainer(key) for key in "abc")
    assert [one["trainer"] for one in (first, second, third)] == [0, 1, 2]
    job.request("leave", role="trainer", number=1, incarnation=1)
    assert job.trainer("d") == {"trainer": 1, "incarnation": 2}
    assert trainers(job) == [(0, 1), (1, 2), (2, 1)]


def test_a_message_that_comes_twice_is_one_trainer(job):
    assert job.trainer("a") == job.trainer("a")
    assert trainers(job) == [(0, 1)]
    job.restart()
    assert job.trainer("a") == {"trainer": 0, "incarnation": 1}


def test_a_trainer_that_begins_again_is_counted_once(job):
    old = job.trainer("a", 0)
    new = job.trainer("b", 0)
    assert trainers(job) == [(0, 2)] and new["incarnation"] == 2
    with pytest.raises(Gone, match="another one has its number"):
        job.request("get_tasks", **old, pass_number=0)
    with pytest.raises(Gone):
        job.heartbeat("trainer", 0, 1)
    job.request("leave", role="trainer", number=0, incarnation=1)  # from the previous incarnation: too late to have an effect
    assert trainers(job) == [(0, 2)]


def test_who_is_silent_for_the_lease_is_lost(job):
    a, b = job.trainer("a"), job.trainer("b")
    before = job.request("view")["membership"]
    job.clock.pass_by(9.999)
    job.heartbeat("trainer", b["trainer"], 1)
    job.clock.now = 1010.0
    assert trainers(job) == [(1, 1)]
    assert job.request("view")["membership"] > before
    with pytest.raises(Gone, match="sent nothing for too long"):
        job.heartbeat("trainer", a["trainer"], 1)
    with pytest.raises(Gone, match="never joined"):
        job.heartbeat("trainer", 7, 1)


def test_the_job_starts_when_all_expected_trainers_are_there_and_does_not_stop_when_one_goes(job):
    job.trainer("a")
    assert job.request("view")["started"] is False
    job.trainer("b")
    job.request("leave", role="trainer", number=0, incarnation=1)
    job.restart()
    assert job.request("view")["started"] is True


def test_a_job_that_goes_on_in_the_same_directory_waits_for_all_its_trainers_again(job):
    for one in (job.trainer("a"), job.trainer("b")):
        job.request("leave", role="trainer", number=one["trainer"], incarnation=1)
    job.settings = replace(job.settings, run="again")
    job.restart()
    job.trainer("c")
    assert job.request("view")["started"] is False
    job.trainer("d")
    assert job.request("view")["started"] is True


def test_servers_never_share_a_number(job):
    assert job.server("a") == [0, 1] and job.server("b") == [1, 1]
    with pytest.raises(NotElected, match="there are 2 servers already"):
        job.server("c")
    with pytest.raises(Malformed, match="server 7: this job has 2"):
        job.server("c", 7)
    assert job.server("c", 1) == [1, 2]  # it was started to replace b
    with pytest.raises(Gone):
        job.heartbeat("server", 1, 1)
    job.clock.pass_by(5)
    job.heartbeat("server", 1, 2)
    job.clock.pass_by(5)
    assert job.server("d") == [0, 2]  # a is lost
    rows = job.request("view")["servers"]
    assert [(row["server"], row["address"]) for row in rows] == [(0, "at d"), (1, "at c")]


def test_who_leaves_and_joins_again_was_not_lost(job):
    job.trainer("a")
    job.request("leave", role="trainer", number=0, incarnation=1)
    job.trainer("b", 0)
    assert job.request("status")["trainers"]["0"]["restarts"] == 0
    job.clock.pass_by(60)
    row = job.request("status")["trainers"]["0"]
    assert row == {"present": False, "lost": True, "restarts": 0, "silent": None, "report": {}, "latencies": {}}
    job.trainer("c", 0)
    assert job.request("status")["trainers"]["0"]["restarts"] == 1


def test_the_status_board(job):
    a = job.trainer("a")
    job.server("s")
    job.heartbeat("trainer", a["trainer"], 1, steps_per_second=12.5, staleness=1)
    job.clock.pass_by(4)
    job.heartbeat("server", 0, 1, bytes=10**9, checkpoints=2)
    job.trainer("b", 0)
    job.request("ask_save", trainer=0, incarnation=2, directory="out", seconds=60)
    job.restart()
    job.heartbeat("server", 0, 1, bytes=10**9, checkpoints=2)
    job.clock.pass_by(1)
    status = job.request("status")
    reports = [status[part]["0"]["report"] for part in ("servers", "trainers")]
    assert reports == [{"bytes": 10**9, "checkpoints": 2}, {}]
    assert [status[part]["0"]["restarts"] for part in ("servers", "trainers")] == [0, 1]
    assert [status[part]["0"]["silent"] for part in ("servers", "trainers")] == [1.0, 1.0]
    assert not status["trainers"]["0"]["lost"] and status["trainers"]["0"]["present"]
    assert status["leases"] == {"save out": {"trainer": "0", "seconds": 59.0}}
    assert status["restarts"] == 1 and status["storage_errors"] == 0
    assert status["tasks"] == {"pass": 0, "todo": 0, "pending": 0, "done": 0, "failed": 0}


@pytest.mark.parametrize("report", [{f"x{i}": 1 for i in range(33)}, {"a": [1]}, {"a": "x" * 300}, {"a": 10**300}])
def test_reports_are_small(job, report):
    job.trainer("a")
    with pytest.raises(Malformed, match="a report has at most 32"):
        job.heartbeat("trainer", 0, 1, **report)


# Data


def test_tasks_of_a_lost_trainer_are_read_by_others(job):
    a, b = job.trainer("a"), job.trainer("b")
    job.request("set_data", chunks=["one"], chunks_per_task=1)
    (got,) = job.request("get_tasks", **a, pass_number=0)["tasks"]
    assert job.request("get_tasks", **b, pass_number=0)["answer"] == "none_now"
    job.trainer("c", a["trainer"])
    ((task, epoch, chunks),) = job.request("get_tasks", **b, pass_number=0)["tasks"]
    assert task == got[0] and epoch > got[1] and chunks == ["one"]
    assert job.request("end_tasks", **b, tasks=[got[:2], [task, epoch]])["counted"] == [False, True]


def test_queues_are_the_same_after_a_restart(job):
    a = job.trainer("a")
    job.request("set_data", chunks=list(range(8)), chunks_per_task=2)
    for failed in (False, True):
        (got,) = job.request("get_tasks", **a, pass_number=0)["tasks"]
        job.request("end_tasks", **a, tasks=[got[:2]], failed=failed)
    (held,) = job.request("get_tasks", **a, pass_number=0)["tasks"]
    before = job.request("status")["tasks"]
    job.restart()
    assert job.request("status")["tasks"] == before == {"pass": 0, "todo": 2, "pending": 1, "done": 1, "failed": 0}
    assert job.request("end_tasks", **a, tasks=[held[:2]])["counted"] == [True]
    with pytest.raises(AlreadyInitialised):
        job.request("set_data", chunks=[1])


# State that survives


def test_numbers_never_go_back(job):
    job.trainer("a", 0)
    job.clock.pass_by(60)
    membership = job.request("view")["membership"]  # the loss is not written anywhere
    for _ in range(3):
        job.restart()
        assert trainers(job) == [(0, 1)]  # the restart counts as a heartbeat
        assert job.request("view")["membership"] > membership
        job.clock.pass_by(60)
        membership = job.request("view")["membership"]
    assert job.trainer("b", 0)["incarnation"] == 2


def test_a_file_of_something_else_is_refused(tmp_path):
    job = Asked(tmp_path)
    job.trainer("a")
    with pytest.raises(WrongJob, match="belongs to job 'job', not 'other'"):
        Coordinator(CoordinatorSettings("other", 1, 1), str(tmp_path))
    path = tmp_path / "coordinator.json"
    whole = path.read_bytes()
    changed = whole.replace(b'["started", false]', b'["started", true]')
    for damaged in (b"", whole[:-1], changed, whole + b" ", b"[1]", b"\xff"):
        path.write_bytes(damaged)
        with pytest.raises(StorageError, match="truncated or damaged"):
            job.restart()
        assert path.read_bytes() == damaged
    path.write_bytes(coordinator_file._spelled({**json.loads(whole)["coordinator"], "format": 3}))
    with pytest.raises(WrongVersion, match="has format 3, only 1 and 2 are supported"):
        job.restart()
    path.unlink()
    path.mkdir()
    with pytest.raises(StorageError, match="can't read"):
        job.restart()


def test_a_directory_that_can_not_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="coordinator.json"):
        Asked(tmp_path / "file" / "below")
