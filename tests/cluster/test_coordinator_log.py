"""The files of a coordinator: a snapshot and a log, through full disks, crashes, torn ends and damage."""

import json
import os
import threading
import time
from contextlib import suppress
from itertools import pairwise
from queue import SimpleQueue

import pytest

from coordinators import Asked
from disks import disk_of
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.coordinator import coordinator_file, durable_state
from paddle_mini.cluster.coordinator.coordinator import Coordinator
from paddle_mini.cluster.coordinator.coordinator_settings import CoordinatorSettings
from paddle_mini.cluster.errors import ClusterError, StorageError
from paddle_mini.cluster.messages import decode_reply, encode
from paddle_mini.cluster.protocol import Join, View
from paddle_mini.cluster.replies import JobMembers, Welcome
from paddle_mini.cluster.thread_engine import ThreadEngine
from server_calls import generator


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def state(job):
    """The tables, as JSON has them."""
    tables = json.loads(json.dumps(job.service._durable._journal.snapshot()))
    return {name: sorted(rows) for name, rows in tables.items()}


def log_of(job):
    (name,) = [name for name in os.listdir(job.directory) if name.endswith(".log")]
    return os.path.join(job.directory, name)


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


@pytest.mark.parametrize("fails", [False, True])
def test_replies_that_wait_for_the_disk_share_one_call(job, monkeypatch, fails):
    job.trainer("first")
    before, calls, replies = state(job), [], SimpleQueue()

    def fdatasync(descriptor):
        calls.append(descriptor)
        if fails:
            raise OSError(5, "Input/output error")

    job.service.batched = True
    with monkeypatch.context() as patch:
        patch.setattr(coordinator_file.os, "fdatasync", fdatasync)
        patch.setattr(durable_state, "LONGEST_WAIT", 60.0)
        for number in range(20):
            job.service.take(*encode("job", Join(f"key {number}")), replies.put, 5.0)
        job.service.take(*encode("job", View()), replies.put, 5.0)
        assert replies.empty() and not calls, "they are in the log, but not yet on the disk"
        job.service.flush()
        assert len(calls) == 1
        answers = [replies.get_nowait() for _ in range(21)]
        if fails:
            for answer in answers:
                with pytest.raises(StorageError, match="Input/output error"):
                    decode_reply(Welcome, *answer)
            assert state(job) == before
    if fails:
        assert job.trainer("again")["trainer"] == 1
    else:
        assert [decode_reply(Welcome, *answer).number for answer in answers[:-1]] == list(range(1, 21))
        assert len(decode_reply(JobMembers, *answers[-1]).trainers) == 21
    job.restart()
    assert len(job.request("view")["trainers"]) == (2 if fails else 21)


def test_a_reply_does_not_wait_for_many_others(job, monkeypatch):
    """Nor for an engine that does not say when no other request waits."""
    replies = SimpleQueue()
    job.service.take(*encode("job", Join("a")), replies.put, 5.0)
    assert replies.qsize() == 1
    job.service.batched = True
    monkeypatch.setattr(durable_state, "LONGEST_WAIT", 0.0)
    job.service.take(*encode("job", Join("b")), replies.put, 5.0)
    assert replies.qsize() == 2
    monkeypatch.setattr(durable_state, "LONGEST_WAIT", 60.0)
    job.service.take(*encode("job", Join("c")), replies.put, 5.0)
    job.service.take(*encode("job", Join("d")), replies.put, 5.0)
    assert replies.qsize() == 2
    job.service.tick()
    assert replies.qsize() == 4


def test_threads_that_join_at_once_share_calls(tmp_path, monkeypatch):
    calls, sync = [], os.fdatasync

    def slow(descriptor):
        calls.append(descriptor)
        time.sleep(0.005)  # others come meanwhile
        sync(descriptor)

    monkeypatch.setattr(coordinator_file.os, "fdatasync", slow)
    engine, count = ThreadEngine(), 40
    engine.serve({"coordinator": lambda link: Coordinator(CoordinatorSettings("job", count, 1), str(tmp_path))})
    threads = [
        threading.Thread(target=Client(engine.link(), "job").request, args=("coordinator", Join(str(number), number)))
        for number in range(count)
    ]
    calls.clear()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Client(engine.link(), "job").request("coordinator", View()).trainers) == count
    assert len(calls) < count / 2
    engine.stop()


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


def test_a_file_of_format_1_is_read(job, tmp_path):
    used(job)
    expected = resumed(job)
    data = coordinator_file._spelled({"format": 1, "job": "job", "state": FORMAT_1})
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "coordinator.json").write_bytes(data)
    old = Asked(tmp_path / "old")
    view = old.request("view")
    assert view["started"] and view["initialised"] and view["trainers"] == [[0, 2], [1, 1]]
    found = resumed(old)
    for places in ("tasks.data", "tasks.todo"):  # places in the queue are counted from its beginning
        del found[places], expected[places]
    assert found == expected
    b = {"trainer": 1, "incarnation": 1}
    assert old.request("end_tasks", **b, tasks=[[1, 1]])["counted"] == [True]
    assert [chunks for _, _, chunks in old.request("get_tasks", **b, pass_number=0, serial=5)["tasks"]] == [["z"]]
    assert old.trainer("d")["trainer"] == 2
