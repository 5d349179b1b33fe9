"""The files of a coordinator: a snapshot and a log, through full disks, crashes, torn ends and damage."""

import json
import os
from contextlib import suppress
from itertools import pairwise

import pytest

from coordinators import FORMAT_1, Asked, resumed, state, used
from disks import disk_of
from paddle_mini.cluster.coordinator import coordinator_file
from paddle_mini.cluster.errors import ClusterError, StorageError
from server_calls import generator


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def log_of(job):
    (name,) = [name for name in os.listdir(job.directory) if name.endswith(".log")]
    return os.path.join(job.directory, name)


def test_a_restart_finds_all_changes(job):
    used(job)
    before = state(job)
    assert os.path.getsize(log_of(job)) > 500
    after = resumed(job)
    assert after == {name: before[name] for name in after}
    assert resumed(job) == after


@pytest.mark.parametrize("function", ["pwrite", "fdatasync"])
def test_what_can_not_be_written_does_not_happen(job, monkeypatch, function):
    a = job.trainer("a")
    job.request("set_data", chunks=[1, 2], chunks_per_task=1)
    before = state(job)

    def refuse(*given, **more):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(coordinator_file.os, function, refuse)
        for name, fields in [
            ("join", {"key": "b"}),
            ("register", {"key": "s", "address": "here"}),
            ("get_tasks", {**a, "pass_number": 0}),
            ("ask_save", {**a, "directory": "out", "seconds": 1}),
            ("leave", {"role": "trainer", "number": 0, "incarnation": 1}),
        ]:
            with pytest.raises(StorageError, match="No space left on device"):
                job.request(name, **fields)
            assert state(job) == before
        job.request("set_data", chunks=[1, 2], chunks_per_task=1)  # changes nothing, so nothing is written
        job.heartbeat("trainer", 0, 1, steps=3)
    assert job.request("status")["storage_errors"] == 5
    assert job.request("get_tasks", **a, pass_number=0)["answer"] == "task"
    assert len(os.listdir(job.directory)) == 2
    job.restart()
    assert job.request("status")["tasks"]["pending"] == 1


def test_an_initialisation_whose_end_can_not_be_written_has_not_ended(job, monkeypatch):
    a, servers = job.trainer("a"), [job.server("s"), job.server("t")]
    token = job.request("begin_init", **a)["token"]
    with disk_of(os.path.getsize(log_of(job)) + 20), pytest.raises(StorageError):
        job.request("end_init", **a, token=token, servers=servers)
    assert not job.request("view")["initialised"]
    assert job.request("end_init", **a, token=token, servers=servers) == {"ok": True, "repeated": False}
    job.restart()
    assert job.request("view")["initialised"]


def test_half_a_record_on_a_full_disk_is_cut_off(job):
    job.trainer("a")
    size = os.path.getsize(log_of(job))
    for more in range(0, 60, 7):
        with disk_of(size + more), pytest.raises(StorageError, match="File too large"):
            job.request("join", key="b")
        assert os.path.getsize(log_of(job)) == size
    job.trainer("c")
    job.restart()
    assert [key for _, (key, *_) in state(job)["trainers.present"]] == ["a", "c"]


def test_time_goes_on_while_the_disk_is_full(job):
    job.trainer("a")
    with disk_of(os.path.getsize(log_of(job))):
        for _ in range(11):
            with pytest.raises(StorageError):
                job.request("join", key="b")
            job.clock.pass_by(1)
    assert job.request("view")["trainers"] == []
    job.trainer("b")  # its record also says that a was lost
    job.restart()
    assert job.request("view")["trainers"] == [[0, 2]]


@pytest.mark.parametrize("zeros", [False, True], ids=["cut off", "zeros"])
def test_an_end_that_was_being_written_does_not_count(job, zeros):
    """At every byte of the last record."""
    job.trainer("a")
    size = os.path.getsize(log_of(job))
    job.trainer("b")
    with open(log_of(job), "rb") as file:
        whole = file.read()
    for end in range(size, len(whole)):
        again = Asked(f"{job.directory}/{zeros} {end}")
        with open(log_of(again), "wb") as file:
            file.write(whole[:end] + (b"\0" * (len(whole) - end) if zeros else b""))
        again.restart()
        assert [key for _, (key, *_) in state(again)["trainers.present"]] == ["a"]
        assert again.trainer("c")["trainer"] == 1


def test_damage_is_not_taken_for_an_end_that_was_being_written(job):
    used(job)
    path = log_of(job)
    with open(path, "rb") as file:
        whole = file.read()
    lines = whole.splitlines(keepends=True)
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole) - 1, 3)]
    damaged += [b"".join(lines[:at] + lines[at + 1 :]) for at in range(len(lines) - 1)]  # a record is missing
    damaged += [b"".join([*lines[:2], lines[3], lines[2], *lines[4:]]), b"", whole + lines[-1]]
    for data in damaged:
        with open(path, "wb") as file:
            file.write(data)
        with pytest.raises(StorageError, match=r"coordinator\.1\.log' is truncated or damaged"):
            job.restart()
    with open(path, "wb") as file:
        file.write(whole)
    os.rename(path, path + ".away")
    with pytest.raises(StorageError, match=r"coordinator\.1\.log', which belongs to 'coordinator\.json' beside it, is missing"):
        job.restart()


ODD = [None, True, -1, 2**70, "x", [], [0], [[0]], {}, {"a": 1}]


@pytest.mark.parametrize("form", [1, 2])
def test_content_with_valid_checksums_that_no_coordinator_wrote(job, form):
    """A value anywhere in the files is replaced: it is refused, or the coordinator answers."""
    used(job)
    path = os.path.join(job.directory, "coordinator.json")
    with open(path, "rb") as file:
        written = json.loads(file.read())["coordinator"]
    facts = written if form == 2 else {"format": 1, "job": "job", "state": FORMAT_1}
    random, refused = generator(f"odd {form}"), 0
    for _ in range(150):
        changed = json.loads(json.dumps(facts))
        inside = changed
        while True:
            key = random.choice(list(inside)) if isinstance(inside, dict) else int(random.integers(len(inside)))
            if not isinstance(inside[key], (dict, list)) or not inside[key] or random.random() < 0.3:
                break
            inside = inside[key]
        inside[key] = ODD[random.integers(len(ODD))]
        if not {"format", "job", "log"} & {key}:
            with open(path, "wb") as file:
                file.write(coordinator_file._spelled(changed))
            again = Asked.__new__(Asked)
            vars(again).update(vars(job))
            try:
                again.restart()
            except ClusterError:
                refused += 1
    assert refused > 20


class Dead(BaseException):
    """The process was killed."""


@pytest.mark.parametrize("death", [Dead, lambda: OSError(28, "No space left on device")], ids=["killed", "disk full"])
def test_an_end_at_any_step_of_a_snapshot_loses_nothing(tmp_path, monkeypatch, death):
    """From one call of the system on, all fail, while a snapshot takes the place of a log; the next coordinator resumes."""
    steps, ended = 0, True
    while ended:
        job = Asked(tmp_path / str(steps))
        used(job)
        expected, left = resumed(job), [steps]
        with monkeypatch.context() as patch:

            def guarded(function, left=left):
                def call(*given, **more):
                    left[0] -= 1
                    if left[0] < 0:
                        raise death()
                    return function(*given, **more)

                return call

            for name in ("makedirs", "open", "pwrite", "fdatasync", "fsync", "replace", "listdir", "unlink", "close"):
                patch.setattr(os, name, guarded(getattr(os, name)))
            with suppress(Dead, OSError, StorageError):
                job.service._durable.begin()
            ended = left[0] < 0
        assert resumed(job) == expected and len(os.listdir(job.directory)) <= 3
        steps += 1
    assert steps > 10


def test_a_long_log_is_replaced_by_a_snapshot(job, monkeypatch):
    monkeypatch.setattr(coordinator_file, "LOG_LIMIT", 2000)
    job.restart()
    sizes = []
    for number in range(60):
        job.trainer(f"key {number}")
        sizes.append(os.path.getsize(log_of(job)))
    assert sum(later < earlier for earlier, later in pairwise(sizes)) >= 2 and max(sizes) < 12_000
    job.restart()
    assert len(job.request("view")["trainers"]) == 60


def test_a_log_grows_while_a_snapshot_can_not_be_written(job, monkeypatch):
    monkeypatch.setattr(coordinator_file, "LOG_LIMIT", 2000)
    job.restart()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *names: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        for number in range(30):
            job.trainer(f"key {number}")
    job.restart()
    assert len(job.request("view")["trainers"]) == 30


def test_a_change_writes_no_more_with_many_members(job):
    """The bytes of a join, a task and an election do not depend on how many there are."""

    def bytes_of(name, **fields):
        before = os.path.getsize(log_of(job))
        job.request(name, **fields)
        return os.path.getsize(log_of(job)) - before

    def costs(key, trainer):
        return [
            bytes_of("join", key=key),
            bytes_of("get_tasks", **trainer, pass_number=0),
            bytes_of("ask_save", **trainer, directory=key, seconds=60),
        ]

    a = job.trainer("a")
    job.request("set_data", chunks=list(range(1000)), chunks_per_task=1)
    few = costs("b", a)
    for number in range(500):
        one = job.trainer(f"key {number}")
        job.request("get_tasks", **one, pass_number=0)
    assert sum(costs("c", a)) < sum(few) + 40
    assert bytes_of("ask_save", **job.trainer("a"), directory="b", seconds=60) == 0, "its holder extends it"
    assert bytes_of("heartbeat", role="trainer", number=3, incarnation=1, report={}) == 0
